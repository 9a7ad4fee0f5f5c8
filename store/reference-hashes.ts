import { createHmac, hkdfSync, type KeyObject } from 'node:crypto';

/** Keys that are kept outside the database, or a function that gives the present ones; the first one makes new hashes. A worker's encryption keys are such a list. */
type ReferenceKeyList = readonly { readonly key: KeyObject }[];
export type ReferenceKeys = ReferenceKeyList | (() => ReferenceKeyList);

/** No other key is derived with this purpose, so no ciphertext reveals anything about a hash. */
const purpose = 'lab-operations: references of deleted users';

/**
 * Hashes of the product's own references of users. A reference may be an e-mail address or a telephone number, and outlives
 * the user's data in the tombstone. A plain hash of it could be found by trying all of them, so it takes a key to make one.
 * Without a key nothing is kept.
 */
export class ReferenceHashes {
  readonly #keys: ReferenceKeys;
  /** Once for each key: an event without a user may name a thousand references. */
  readonly #derived = new WeakMap<KeyObject, Buffer>();

  constructor(keys: ReferenceKeys = []) {
    this.#keys = keys;
  }

  /** The hash of a reference that a tombstone stores; null without a key. */
  kept(reference: string): string | null {
    return this.all(reference)[0] ?? null;
  }

  /** The hashes of it that tombstones may have stored, under every key. */
  all(reference: string): string[] {
    const keys = typeof this.#keys === 'function' ? this.#keys() : this.#keys;
    return keys.map(({ key }) => createHmac('sha256', this.#derivedFrom(key)).update(reference).digest('hex'));
  }

  #derivedFrom(key: KeyObject): Buffer {
    const derived = this.#derived.get(key) ?? Buffer.from(hkdfSync('sha256', key, '', purpose, 32));
    this.#derived.set(key, derived);
    return derived;
  }
}
