import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/* What this system signs for others to verify offline: compact JWS (RFC 7515) with EdDSA. */

/** @param key an Ed25519 private key */
export function signJws(key: KeyObject, payload: object): string {
  const { crv, x } = createPublicKey(key).export({ format: 'jwk' });
  // The key's thumbprint, RFC 7638.
  const kid = createHash('sha256')
    .update(JSON.stringify({ crv, kty: 'OKP', x }))
    .digest('base64url');
  const parts = [{ alg: 'EdDSA', kid }, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const input = parts.join('.');
  return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`;
}

/**
 * The payload; undefined if this key has not signed it.
 *
 * @param publicKey a key, or its PEM
 */
export function verifiedPayload(jws: string, publicKey: KeyObject | string): unknown {
  const [header = '', payload = '', signature = '', ...more] = jws.trim().split('.');
  try {
    const key = typeof publicKey === 'string' ? createPublicKey(publicKey) : publicKey;
    const signed = Buffer.from(signature, 'base64url');
    const { alg } = JSON.parse(textOf(header)) as { alg?: unknown };
    const isSigned =
      key.asymmetricKeyType === 'ed25519' &&
      alg === 'EdDSA' &&
      more.length === 0 &&
      signed.toString('base64url') === signature &&
      verify(null, Buffer.from(`${header}.${payload}`), key, signed);
    return isSigned ? JSON.parse(textOf(payload)) : undefined;
  } catch {
    // A key or a document in another form.
    return undefined;
  }
}

function textOf(part: string): string {
  return Buffer.from(part, 'base64url').toString();
}
