import { hostname } from 'node:os';
import { Client, type ClientOptions } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import { CallTooLarge } from './errors.js';

/*
 * Temporal refuses a start or a signal with more than 2 MiB of payloads. It hands out a larger update, and terminates the workflow
 * that accepts it. Beyond 4 MiB gRPC refuses any call, as if the server were busy.
 */

/** An update has its ID, its name and the caller's identity beside its payloads, and the server counts them, too. */
const restBytes = 4 * 1024;

const mostBytes = 2 * 1024 * 1024 - restBytes;

const { Payloads } = proto.temporal.api.common.v1;

const payloadLimit: PayloadCodec = {
  encode: (payloads) => {
    const bytes = Payloads.encode({ payloads }).finish().length;
    return bytes > mostBytes ? Promise.reject(new CallTooLarge(bytes, mostBytes)) : Promise.resolve(payloads);
  },
  decode: (payloads) => Promise.resolve(payloads),
};

/** A client whose calls are refused before they are sent if their payloads, as the given client encodes them, are too large. */
export function withPayloadLimit(temporal: Client): Client {
  const { loadedDataConverter } = temporal.options;
  const payloadCodecs = [...loadedDataConverter.payloadCodecs, payloadLimit];
  return derivedClient(temporal, { dataConverter: { ...loadedDataConverter, payloadCodecs } });
}

/** The identity that the SDK gives a client. */
export function defaultIdentity(): string {
  return `${process.pid}@${hostname()}`;
}

/** A client whose calls show the actor, unless the given one has an identity of its own. */
export function withIdentityOf(temporal: Client, actor: string | undefined): Client {
  const isUsual = temporal.options.identity === defaultIdentity();
  return actor === undefined || !isUsual ? temporal : derivedClient(temporal, { identity: actor });
}

/** True if the client encrypts its payloads. */
export function hasKeys({ options }: Client): boolean {
  return options.loadedDataConverter.payloadCodecs.some((codec) => codec !== payloadLimit);
}

/** A client with the same connection and settings, but for the changes. */
export function derivedClient(
  { connection, options }: Client,
  changes: Pick<ClientOptions, 'interceptors' | 'dataConverter' | 'identity'>,
): Client {
  const { namespace, identity, interceptors, workflow, loadedDataConverter } = options;
  return new Client({
    connection,
    namespace,
    identity,
    interceptors,
    workflow,
    dataConverter: loadedDataConverter,
    ...changes,
  });
}
