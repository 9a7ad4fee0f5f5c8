import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter } from '@temporalio/common';
import { expect, test } from 'vitest';
import { parseKeyRing } from '../../../client/encryption/key-ring.js';
import { dataConverterOf } from '../../../workers/encryption.js';
import { createLog } from '../../../workers/log.js';

function written() {
  const lines: { level: number; msg: string; payloads?: number }[] = [];
  const write = (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]);
  return { lines, log: createLog({ logLevel: 'info', logFormat: 'names' }, 'test', { write }) };
}

test('a process without keys logs a warning in plain words', () => {
  const { lines, log } = written();
  expect(dataConverterOf(undefined, log)).toEqual({});
  expect(lines).toMatchObject([{ level: 'warn' }]);
  expect(lines[0]?.msg).toMatch(/NOT encrypted: LABOPS_ENCRYPTION_KEYS is not set/);
});

test('a process with keys warns of unencrypted payloads, after 1, 10 and 100 of them', async () => {
  const { lines, log } = written();
  const ring = parseKeyRing(`k:${randomBytes(32).toString('base64')}`);
  const [codec] = dataConverterOf(ring, log).dataConverter?.payloadCodecs ?? [];
  await codec?.decode(await codec.encode([defaultPayloadConverter.toPayload('encrypted')]));
  expect(lines).toEqual([]);
  for (let n = 0; n < 120; n += 1) await codec?.decode([defaultPayloadConverter.toPayload('readable')]);
  expect(lines.map(({ level, payloads }) => ({ level, payloads }))).toEqual([
    { level: 'warn', payloads: 1 },
    { level: 'warn', payloads: 10 },
    { level: 'warn', payloads: 100 },
  ]);
});
