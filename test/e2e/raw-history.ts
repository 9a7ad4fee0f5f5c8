import type proto from '@temporalio/proto';
import { expect } from 'vitest';
import { createPayloadCodec } from '../../client/encryption/payload-codec.js';
import { parseKeyRing } from '../../client/index.js';
import type { Stack } from './stack.js';

type Payload = proto.temporal.api.common.v1.IPayload;
type Failure = proto.temporal.api.failure.v1.IFailure;

/** What Temporal needs to search by; never encrypted. */
const searchable = /(searchAttributes|indexedFields)/;

interface Found {
  path: string;
  value: object;
}

/** Every object of a message as Temporal sent it, with the path that leads to it. */
function everyObject(value: unknown, path = ''): Found[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  const within = Object.entries(value).flatMap(([name, inner]) =>
    everyObject(inner, Array.isArray(value) ? path : `${path}.${name}`),
  );
  return [{ path, value }, ...within];
}

/** Messages from the wire know their type. */
function isMessage(value: object, type: string): boolean {
  return '$type' in value && (value.$type as { fullName?: string } | null)?.fullName === `.temporal.api.${type}`;
}

const isPayload = (value: object): value is Payload => isMessage(value, 'common.v1.Payload');
const isFailure = (value: object): value is Failure => isMessage(value, 'failure.v1.Failure');

/** Where a message holds payloads; positions in lists are left out. */
export function pathsOf(message: object): string[] {
  return everyObject(message).flatMap(({ path, value }) => (isPayload(value) ? [path] : []));
}

/** The places that a message's payloads are bound to, as `<namespace> <workflow id>`. */
export function placesOf(message: object): Set<string> {
  const payloads = everyObject(message).filter(({ path, value }) => !searchable.test(path) && isPayload(value));
  const metadata = payloads.map(({ value }) => (value as Payload).metadata ?? {});
  return new Set(metadata.map((each) => `${text(each['namespace'])} ${text(each['workflow-id'])}`));
}

/**
 * Expects that every payload of a message is encrypted with the key, every failure's message and stack trace among
 * them, and that nothing unreadable appears in it.
 */
export function expectNothingReadable(message: object, keyId: string, forbidden: RegExp): void {
  const objects = everyObject(message).filter(({ path }) => !searchable.test(path));
  for (const { path, value } of objects) {
    if (isPayload(value)) {
      const { encoding, 'encryption-key-id': id } = value.metadata ?? {};
      expect([text(encoding), text(id)], path).toEqual(['binary/encrypted', keyId]);
    }
    // What the server itself reports of a failure (an activity's, a time-out) has no text of ours.
    if (isFailure(value) && value.source === 'TypeScriptSDK') {
      expect([value.message, value.stackTrace], path).toEqual(['Encoded failure', '']);
    }
  }
  const strings = objects.flatMap(({ value }) =>
    Object.values(value).flatMap((inner: unknown) =>
      typeof inner === 'string' ? [inner] : inner instanceof Uint8Array ? [text(inner)] : [],
    ),
  );
  expect(strings.filter((string) => forbidden.test(string))).toEqual([]);
}

/** All that a holder of the keys reads in the history of a workflow's latest run. */
export async function decryptedHistory({ rig, keys }: Stack, workflowId: string): Promise<string> {
  const { events } = await rig.client.workflow.getHandle(workflowId).fetchHistory();
  const payloads = everyObject(events).flatMap(({ value }) => (isPayload(value) ? [value] : []));
  const decrypted = await createPayloadCodec(parseKeyRing(keys)).decode(payloads);
  return [JSON.stringify(events), ...decrypted.map(({ data }) => Buffer.from(data ?? []).toString())].join('\n');
}

function text(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString('latin1');
}
