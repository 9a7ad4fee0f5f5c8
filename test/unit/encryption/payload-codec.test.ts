import { randomBytes, webcrypto } from 'node:crypto';
import {
  defaultPayloadConverter,
  type Payload,
  type PayloadCodec,
  type SerializationContext,
} from '@temporalio/common';
import proto from '@temporalio/proto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseKeyRing } from '../../../client/encryption/key-ring.js';
import vectors from '../../../examples/encryption-vectors.json' with { type: 'json' };
import {
  createPayloadCodec,
  EncryptionKeyUnknown,
  PayloadMisplaced,
  PayloadNotAuthentic,
} from '../../../client/encryption/payload-codec.js';

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
const k1 = key('k1');
const k2 = key('k2');
const withKeys = (...keys: string[]): PayloadCodec => createPayloadCodec(parseKeyRing(keys.join(',')));
const codec = withKeys(k1);

const secret = { receiver_name: 'Testperson Imaginary', city: 'Nowhereville' };
const payload = defaultPayloadConverter.toPayload(secret);

async function encrypted(by: PayloadCodec = codec) {
  const [{ metadata, data } = {}] = await by.encode([payload]);
  const named: Record<string, Uint8Array> = metadata ?? {};
  return { metadata: named, data: data ?? new Uint8Array() };
}

const payloadOf = ({ metadata, data }: { metadata: object; data: string }): Payload => ({
  metadata: Object.fromEntries(
    Object.entries(metadata).map(([name, value]: [string, string]) => [name, Buffer.from(value, 'base64')]),
  ),
  data: Buffer.from(data, 'base64'),
});

const jsonOf = ({ metadata, data }: Payload) => {
  const base64 = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('base64');
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)]);
  return { metadata: Object.fromEntries(entries) as object, data: base64(data) };
};

const text = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('latin1');
test('an encrypted payload comes back whole, whatever it is', async () => {
  const bytes = fc.uint8Array({ maxLength: 3000 });
  const payloads = fc.array(
    fc.record({ metadata: fc.dictionary(fc.stringMatching(/^[a-z-]{1,20}$/), bytes), data: bytes }),
  );
  await fc.assert(
    fc.asyncProperty(payloads, async (list) => {
      const plain = ({ metadata, data }: Payload) => ({
        metadata: Object.entries(metadata ?? {}).map(([name, value]) => [name, text(value)]),
        data: text(data),
      });
      expect((await codec.decode(await codec.encode(list))).map(plain)).toEqual(list.map(plain));
    }),
  );
});

test('an encrypted payload shows the encoding, the id of its key and its place, and nothing of its content or its own encoding', async () => {
  const context = { type: 'workflow', namespace: 'default', workflowId: 'kit-order/invented-1' } as const;
  const [{ metadata, data } = {}] = await codec.encode([payload], context);
  expect(Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, text(value)]))).toEqual({
    encoding: 'binary/encrypted',
    'encryption-key-id': 'k1',
    namespace: 'default',
    'workflow-id': 'kit-order/invented-1',
  });
  expect(text(data)).not.toMatch(/Testperson|Nowhereville|json/);
});

test('an encrypted payload never looks the same twice', async () => {
  const nonces = await Promise.all(
    Array.from({ length: 500 }, async () => text((await encrypted()).data).slice(0, 12)),
  );
  expect(new Set(nonces).size).toBe(500);
});

describe('the format of docs/messages.md', () => {
  const bytes = Buffer.from('an-invented-key-with-32-bytes-03');

  test('is what another implementation reads', async () => {
    const context = { type: 'workflow', namespace: 'ns', workflowId: 'é' } as const;
    const [{ data } = {}] = await withKeys(`k3:${bytes.toString('base64')}`).encode([payload], context);
    const sent = Buffer.from(data ?? []);
    const imported = await webcrypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['decrypt']);
    const additionalData = Buffer.from('\0\0\0\x02k3\0\0\0\x02ns\0\0\0\x02é');
    const parameters = { name: 'AES-GCM', iv: sent.subarray(0, 12), additionalData };
    const plain = await webcrypto.subtle.decrypt(parameters, imported, sent.subarray(12));
    const decoded = proto.temporal.api.common.v1.Payload.decode(new Uint8Array(plain));
    expect(defaultPayloadConverter.fromPayload(decoded)).toEqual(secret);
  });

  test.each(vectors.vectors)('does not change, because histories last for years: a payload $what', async (vector) => {
    const { encrypted: given, readIn, outcome } = vector;
    const context = readIn && ({ type: 'workflow', ...readIn } as const);
    const read = createPayloadCodec(parseKeyRing(vectors.keys)).decode([payloadOf(given)], context);
    const refusals = [
      [PayloadMisplaced, 'misplaced'],
      [PayloadNotAuthentic, 'not authentic'],
    ] as const;
    const refusalOf = (error: unknown) => refusals.find(([type]) => error instanceof type)?.[1];
    expect(await read.then(([one = {}]) => jsonOf(one), refusalOf)).toEqual(outcome);
  });
});

describe('a payload is bound to', () => {
  const place = (workflowId: string, namespace = 'default') => ({ type: 'workflow', workflowId, namespace }) as const;
  const readIn = async (context: SerializationContext, written: SerializationContext) => {
    const [one] = await codec.decode(await codec.encode([payload], written), context);
    return one && defaultPayloadConverter.fromPayload(one);
  };
  const order = place('kit-order/invented-1');

  test('its workflow, which also the activities of the workflow are', async () => {
    expect(await readIn(order, order)).toEqual(secret);
    const activity = { type: 'activity', namespace: 'default', workflowId: order.workflowId, isLocal: false } as const;
    expect(await readIn(order, activity)).toEqual(secret);
    const moved = readIn(place('kit-order/invented-2'), order);
    await expect(moved).rejects.toThrow(PayloadMisplaced);
    await expect(moved).rejects.toThrow(
      'A payload that was encrypted for the workflow kit-order/invented-1 of the namespace "default" came to the workflow kit-order/invented-2 of the namespace "default"',
    );
  });

  test('its namespace', async () => {
    await expect(readIn(place(order.workflowId, 'other'), order)).rejects.toThrow(PayloadMisplaced);
  });

  test('its schedule, whose runs share what belongs to it and pass their results on; no other workflow has runs like that', async () => {
    const run = (stem: string, hour: number) => place(`${stem}-2026-11-27T0${hour}:00:00Z`);
    expect(await readIn(run('reconcile-orders/lab', 1), place('reconcile-orders/lab'))).toEqual(secret);
    expect(await readIn(run('reconcile-orders/lab', 2), run('reconcile-orders/lab', 1))).toEqual(secret);
    for (const other of [run('reconcile-orders/lab2', 1), place('reconcile-orders/lab-2'), run('kit-order/lab', 1)])
      await expect(readIn(other, run('reconcile-orders/lab', 1))).rejects.toThrow(PayloadMisplaced);
    await expect(readIn(run('kit-order/x', 1), place('kit-order/x'))).rejects.toThrow(PayloadMisplaced);
  });
});

describe('an unreadable payload is refused:', () => {
  test('an unknown key, by its id only', async () => {
    const foreign = await encrypted(withKeys(k2));
    const reading = codec.decode([foreign]);
    await expect(reading).rejects.toThrow(EncryptionKeyUnknown);
    await expect(reading).rejects.toThrow(
      'A payload was encrypted with key "k2", which is not among the encryption keys',
    );
  });

  test('an invalid key id, shown within bounds', async () => {
    const one = await encrypted();
    const odd = { ...one.metadata, 'encryption-key-id': Buffer.from(`\u001b[31m<b>${'x'.repeat(500)}`) };
    await expect(codec.decode([{ ...one, metadata: odd }])).rejects.toThrow(/key "[A-Za-z0-9._?-]{64}"/);
    const none = { encoding: one.metadata['encoding'] ?? new Uint8Array() };
    await expect(codec.decode([{ ...one, metadata: none }])).rejects.toThrow(EncryptionKeyUnknown);
  });

  test('a single bit that was changed, anywhere', async () => {
    const one = await encrypted();
    for (let index = 0; index < one.data.length; index += 1) {
      const data = Uint8Array.from(one.data);
      data[index] = (data[index] ?? 0) ^ 1;
      await expect(codec.decode([{ ...one, data }]), `byte ${index}`).rejects.toThrow(PayloadNotAuthentic);
    }
  });

  test('a payload that was cut', async () => {
    const one = await encrypted();
    for (const length of [0, 5, 12, 27, 28, one.data.length - 1]) {
      const data = one.data.subarray(0, length);
      await expect(codec.decode([{ ...one, data }]), `${length} bytes`).rejects.toThrow(PayloadNotAuthentic);
    }
    await expect(codec.decode([{ metadata: one.metadata }])).rejects.toThrow(PayloadNotAuthentic);
  });

  test('another id on the same bytes of a key', async () => {
    const same = k1.replace('k1:', 'other:');
    const one = await encrypted();
    const renamed = { ...one.metadata, 'encryption-key-id': Buffer.from('other') };
    await expect(withKeys(k1, same).decode([{ ...one, metadata: renamed }])).rejects.toThrow(PayloadNotAuthentic);
  });
});

test('what is not encrypted passes unchanged, beside what is encrypted, and is counted, but for one detail of the server’s own', async () => {
  const counts: number[] = [];
  const counting = createPayloadCodec(parseKeyRing(k1), { onUnencrypted: (count) => counts.push(count) });
  const bare: Payload = { data: new Uint8Array([1, 2]) };
  const decoded = await counting.decode([payload, await encrypted(), bare]);
  expect(decoded[0]).toBe(payload);
  expect(decoded[2]).toBe(bare);
  expect(counts).toEqual([2]);
  await counting.decode([await encrypted()]);
  // Of an activity that was cancelled before it started.
  const detail = defaultPayloadConverter.toPayload('ACTIVITY_ID_NOT_STARTED');
  expect(await counting.decode([detail])).toEqual([detail]);
  expect(counts).toEqual([2]);
});
