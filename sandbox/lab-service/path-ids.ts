import type { FastifyRequest } from 'fastify';
import { refusal } from './problems.js';
import { isUuid } from './validation.js';

/** A path parameter as it is. */
export function pathText(request: FastifyRequest, name: string): string {
  const value = (request.params as Record<string, string>)[name];
  if (value === undefined) throw new Error(`the route has no parameter ${name}`);
  return value;
}

/** A path parameter that has to be a UUID; else the 422 whose detail is a sentence. */
export function pathUuid(request: FastifyRequest, name: string): string {
  const value = pathText(request, name);
  if (isUuid(value)) return value.toLowerCase();
  const reason = value.length === 36 ? 'invalid UUID format' : `invalid UUID length: ${value.length}`;
  throw refusal(
    422,
    `Invalid format for parameter ${name}: error unmarshaling '${value}' text as *uuid.UUID: ${reason}`,
  );
}
