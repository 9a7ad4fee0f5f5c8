import type { DeletionReceipt } from '../../protocol/deletion/messages.js';
import { verifiedPayload } from '../../service/jws.js';
import { ReceiptInvalid } from './errors.js';

/**
 * Verifies the receipt of a deletion, offline, and answers with what it says.
 *
 * @param receipt a compact JWS
 * @param publicKey the PEM of the worker's public key: `openssl pkey -in <RECEIPT_KEY's file> -pubout`
 * @throws ReceiptInvalid
 */
export function verifyReceipt(receipt: string, publicKey: string): DeletionReceipt {
  const said = verifiedPayload(receipt, publicKey) as Partial<DeletionReceipt> | undefined;
  if (said === undefined) throw new ReceiptInvalid('The receipt is not signed with this key, or was changed');
  // The key signs the heads of the audit trail, too.
  if (said.version !== 1 || said.sub === undefined) throw new ReceiptInvalid('What is signed is not a receipt');
  return said as DeletionReceipt;
}
