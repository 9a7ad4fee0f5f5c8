import { createPublicKey, verify } from 'node:crypto';
import type { DeletionReceipt } from '../../protocol/deletion/messages.js';
import { ReceiptInvalid } from './errors.js';

/**
 * Verifies the receipt of a deletion, offline, and answers with what it says.
 *
 * @param receipt a compact JWS
 * @param publicKey the PEM of the worker's public key: `openssl pkey -in <RECEIPT_KEY's file> -pubout`
 * @throws ReceiptInvalid
 */
export function verifyReceipt(receipt: string, publicKey: string): DeletionReceipt {
  const [header = '', payload = '', signature = '', ...more] = receipt.trim().split('.');
  try {
    const key = createPublicKey(publicKey);
    const signed = Buffer.from(signature, 'base64url');
    const { alg } = JSON.parse(textOf(header)) as { alg?: unknown };
    const isSigned =
      key.asymmetricKeyType === 'ed25519' &&
      alg === 'EdDSA' &&
      more.length === 0 &&
      signed.toString('base64url') === signature &&
      verify(null, Buffer.from(`${header}.${payload}`), key, signed);
    if (isSigned) return JSON.parse(textOf(payload)) as DeletionReceipt;
  } catch {
    // A key or a receipt in another form.
  }
  throw new ReceiptInvalid('The receipt is not signed with this key, or was changed');
}

function textOf(part: string): string {
  return Buffer.from(part, 'base64url').toString();
}
