import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isSigned,
  parseSecret,
  readSignatureHeaders,
  sign,
  toleranceSeconds,
  type WebhookHeaders,
  WebhookSecretInvalid,
} from '../../../../service/webhooks/signature.js';

/** The published test vector of Standard Webhooks. */
const published = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestampSeconds: 1614265330,
  body: '{"test": 2432232314}',
};
const publishedSignature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
const now = published.timestampSeconds * 1000;
const body = Buffer.from(published.body);
const otherSecret = `whsec_${Buffer.from('another-invented-key-of-32-bytes').toString('base64')}`;

function headersOf(signature: string, prefix = 'webhook', timestamp = String(published.timestampSeconds)) {
  return { [`${prefix}-id`]: published.id, [`${prefix}-timestamp`]: timestamp, [`${prefix}-signature`]: signature };
}

/** As an endpoint does, which reads the body only when the headers are right. */
function verify(headers: WebhookHeaders, bytes: Uint8Array, secrets: readonly string[], at: number) {
  const read = readSignatureHeaders(headers, at);
  if (!read.ok) return read;
  const isRight = isSigned(read.signed, bytes, secrets);
  return isRight ? { ok: true, id: read.signed.id } : { ok: false, reason: 'signature_mismatch' };
}

describe('signing', () => {
  // proves 304
  test('gives the published signature for the published message, as text and as bytes', () => {
    for (const given of [published.body, body]) expect(sign({ ...published, body: given })).toBe(publishedSignature);
  });

  test('signs the bytes unchanged, even if they are not text', () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80]);
    const headers = headersOf(sign({ ...published, body: bytes }));
    const of = (signed: Buffer) => verify(headers, signed, [published.secret], now);
    expect(of(bytes).ok).toBe(true);
    expect(of(Buffer.from(bytes.toString('utf8')))).toEqual({ ok: false, reason: 'signature_mismatch' });
  });
});

describe('verifying', () => {
  const mismatch = { ok: false, reason: 'signature_mismatch' };
  const missing = { ok: false, reason: 'headers_missing' };
  const accepted = { ok: true, id: published.id };
  const check = (headers: WebhookHeaders, bytes: Uint8Array = body, secrets = [published.secret]) =>
    verify(headers, bytes, secrets, now);

  test.each(['webhook', 'svix', 'Webhook', 'SVIX'])('reads %s-* headers', (prefix) => {
    expect(check(headersOf(publishedSignature, prefix))).toEqual(accepted);
  });

  const otherSignature = sign({ ...published, secret: otherSecret });

  // proves 239, 304
  test.each([publishedSignature, otherSignature])(
    'accepts either of two secrets while they are rotated',
    (signature) => {
      expect(check(headersOf(signature), body, [otherSecret, published.secret])).toEqual(accepted);
    },
  );

  test.each([
    ['in one header', `v1,AAAA v1a,asymmetric ${otherSignature} ${publishedSignature}`],
    ['in a header that came twice, joined by Node', `${otherSignature}, ${publishedSignature}`],
  ])('accepts several signatures %s if one of them matches', (_how, signatures) => {
    expect(check(headersOf(signatures))).toEqual(accepted);
  });

  test('accepts headers that are arrays', () => {
    const headers: WebhookHeaders = {
      'webhook-id': [published.id],
      'webhook-timestamp': [String(published.timestampSeconds)],
      'webhook-signature': [otherSignature, publishedSignature],
    };
    expect(check(headers)).toEqual(accepted);
  });

  test('accepts every signature of its own, whatever the base64 looks like', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.stringMatching(/^[\w-]{1,40}$/), (bytes, id) => {
        const signature = sign({ ...published, id, body: bytes });
        const headers = { ...headersOf(signature), 'webhook-id': id };
        expect(check(headers, bytes)).toEqual({ ok: true, id });
      }),
      { numRuns: 3000 }, // one digest in 400 begins with v and a digit, like a version
    );
  });

  test.each([0, 1, 9, body.length - 1])('refuses a body that was changed by one bit at byte %i', (position) => {
    const changed = Buffer.from(body);
    changed.writeUInt8(changed.readUInt8(position) ^ 1, position);
    expect(check(headersOf(publishedSignature), changed)).toEqual(mismatch);
  });

  test.each([
    ['5 minutes ago', -toleranceSeconds, true],
    ['5 minutes and a second ago', -toleranceSeconds - 1, false],
    ['5 minutes ahead', toleranceSeconds, true],
    ['5 minutes and a second ahead', toleranceSeconds + 1, false],
  ])('accepts or refuses a timestamp %s', (_when, offset, isAccepted) => {
    const timestampSeconds = published.timestampSeconds + offset;
    const headers = headersOf(sign({ ...published, timestampSeconds }), 'webhook', String(timestampSeconds));
    expect(check(headers)).toEqual(isAccepted ? accepted : { ok: false, reason: 'timestamp_stale' });
  });

  test.each(['', 'yesterday', '1614265330.5', '-1614265330', '1e9', '0x60', '٣'])('refuses the time %j', (given) => {
    const hmac = createHmac('sha256', parseSecret(published.secret));
    const signature = `v1,${hmac.update(`${published.id}.${given}.${published.body}`).digest('base64')}`;
    const reason = given === '' ? 'headers_missing' : 'timestamp_unreadable';
    expect(check(headersOf(signature, 'webhook', given))).toEqual({ ok: false, reason });
  });

  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('refuses a message without %s', (name) => {
    const headers = { ...headersOf(publishedSignature), [name]: undefined };
    expect(check(headers)).toEqual(missing);
  });

  test('does not complete half of one spelling with half of the other', () => {
    const { 'webhook-id': id, ...rest } = headersOf(publishedSignature);
    expect(check({ 'svix-id': id, ...rest })).toEqual(missing);
  });

  const versionTwo = publishedSignature.replace('v1', 'v2');
  test.each(['', 'v1', 'v1,', 'v1,AAAA', versionTwo, 'g0hM9SsE'])('refuses the signature header %j', (signature) => {
    expect(check(headersOf(signature)).ok).toBe(false);
  });
});

describe('reading a secret', () => {
  test.each(['', ' ', 'whsec_'])('refuses %j as empty', (secret) => {
    expect(() => parseSecret(secret)).toThrow(/is empty/);
  });

  test('refuses a variable of the environment that is not set as missing', () => {
    expect(() => parseSecret(undefined)).toThrow(WebhookSecretInvalid);
    expect(() => parseSecret(undefined)).toThrow(/^A webhook secret is missing: copy /);
  });

  test.each(['whsec_not base64!', 'whsec_whsec_AAAA', 'abcde', 'A===='])('refuses %j without showing it', (secret) => {
    expect(() => parseSecret(secret)).toThrow(/^A webhook secret is not whsec_ followed by base64: copy /);
  });

  test('reads padded and unpadded base64 alike', () => {
    expect(parseSecret('whsec_AAECAwQFBgcICQoLDA0ODw==')).toEqual(parseSecret('AAECAwQFBgcICQoLDA0ODw'));
  });

  test.each(['A secret', 'fifteen letters'])('refuses the key %j, which is short enough to guess', (key) => {
    const encoded = Buffer.from(key).toString('base64');
    for (const secret of [encoded, `whsec_${encoded}`, ` ${encoded.replace(/=+$/, '')}\n`]) {
      expect(() => parseSecret(secret)).toThrow(`has ${key.length} bytes instead of at least 16`);
    }
    expect(() => sign({ id: 'msg_1', timestampSeconds: 1, body: '', secret: encoded })).toThrow(/at least 16/);
  });

  test.each(['changeme', 'test', 'key1'])('refuses %j, which happens to be base64, without showing it', (secret) => {
    expect(() => parseSecret(secret)).toThrow(/at least 16/);
    expect(() => parseSecret(secret)).not.toThrow(secret);
  });

  const behind = [',', '=', ' '].map((by) => `v1${by}${published.secret}`);
  test.each(['v1', ' v1 ', ...behind])('says of %j that v1 is not part of a secret', (secret) => {
    expect(() => parseSecret(secret)).toThrow(/begins with v1, which is the version of a signature/);
  });

  test('accepts a key that begins with the letters v1', () => {
    expect(parseSecret(`v1${'A'.repeat(22)}`)).toHaveLength(18);
  });
});
