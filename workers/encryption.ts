import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import type { Logger } from 'pino';
import { labDataConverter } from '../client/encryption/data-converter.js';
import type { KeyRing } from '../client/encryption/key-ring.js';

/** The failure converter of a worker with keys; the workflow bundle that it runs has to be built with the same. */
export const encodingFailureConverterPath = fileURLToPath(
  new URL(`../client/encryption/failure-converter${extname(import.meta.url)}`, import.meta.url),
);

/** How a process with or without keys converts data. Says loudly what follows from having none. */
export function dataConverterOf(keyRing: KeyRing | undefined, log: Logger): { dataConverter?: DataConverter } {
  if (keyRing) {
    const converter = labDataConverter(keyRing, { onUnencrypted: unencryptedWarning(log) });
    return { dataConverter: { ...converter, failureConverterPath: encodingFailureConverterPath } };
  }
  log.warn(
    'Payloads are NOT encrypted: LABOPS_ENCRYPTION_KEYS is not set, so whoever can read the namespace can read the names and addresses in its histories.',
  );
  return {};
}

/** After 1, 10, 100… of them, because histories from before there were keys may hold many. */
function unencryptedWarning(log: Logger): (count: number) => void {
  let payloads = 0;
  let next = 1;
  return (count) => {
    payloads += count;
    if (payloads < next) return;
    while (next <= payloads) next *= 10;
    log.warn(
      { payloads },
      'Unencrypted payloads came from Temporal: they are from before there were keys, or a client, an ingress or another worker runs without LABOPS_ENCRYPTION_KEYS.',
    );
  };
}
