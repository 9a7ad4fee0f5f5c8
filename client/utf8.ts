/** Bytes that are not UTF-8. `problem` completes a sentence after "is", and quotes nothing. */
export class NotUtf8 extends Error {
  override readonly name = 'NotUtf8';
  readonly problem: string;

  constructor(problem: string) {
    super(`The text is ${problem}`);
    this.problem = problem;
  }
}

/**
 * The text of a file or of standard input, without its byte order mark. Bytes of another encoding would be replaced one by one, and
 * a parcel would be sent to `J�rgen`.
 * @throws NotUtf8
 */
export function utf8Text(bytes: Uint8Array): string {
  const [first, second] = bytes;
  // By its mark, or because every other byte of plain text is 0 in it.
  const isUtf16 = (first === 0xfe && second === 0xff) || (first === 0xff && second === 0xfe);
  if (isUtf16 || first === 0 || second === 0) throw new NotUtf8('UTF-16 instead of UTF-8');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // What cannot be decoded becomes other bytes.
    const replaced = Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
    const position = bytes.findIndex((byte, index) => byte !== replaced[index]);
    throw new NotUtf8(`not UTF-8: the byte at position ${position}, counted from 0, is wrong`);
  }
}
