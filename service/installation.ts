/**
 * The name of an installation of this product, then its former names, which stay its own. Several installations may share one account
 * at the lab service: each signs what it creates, so none takes another's orders for its own. The name is a setting, and is not
 * derived, because namespaces are renamed and restored, and keys rotate.
 */
export type Installation = readonly [name: string, ...former: string[]];

/** For trying things out: in production the name is required. */
export const defaultInstallation: Installation = ['default'];

/** No colon, which separates the parts of a passthrough. With it, one of ours stays below 255 characters. */
export function isInstallationName(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,32}$/.test(text);
}

const signature = /^labops\/([A-Za-z0-9._-]{1,32}):([\x21-\x7e]+)$/;

/** The text as the service gets it, `labops/<installation>:<text>`. */
export function signed(text: string, [name]: Installation): string {
  return text.replace(/^labops:/, `labops/${name}:`);
}

/**
 * A passthrough of ours, `labops:<text>`; undefined for another installation's, and for any other system's, which may be anything, a
 * person's data too.
 */
export function unsigned(passthrough: string | null | undefined, ours: readonly string[]): string | undefined {
  const [, name, text] = signature.exec(passthrough ?? '') ?? [];
  return name !== undefined && ours.includes(name) ? `labops:${text}` : undefined;
}

/** The installation that created an order; undefined if no installation did, or if it is not shown. */
export function signerOf(passthrough: string | null | undefined): string | undefined {
  return signature.exec(passthrough ?? '')?.[1];
}
