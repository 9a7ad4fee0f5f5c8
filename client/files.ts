import { readFileSync } from 'node:fs';
import { invalid } from '../service/lab-operations-error.js';
import { checkedDescription, type ServiceDescription } from '../service/description.js';

/*
 * Settings that are read from files. Secrets may be in them, as container platforms mount them: a process's environment is visible in /proc and in
 * `docker inspect`.
 */

/** A fault of `<SETTING>_FILE`. `problem` follows its name; never the file's content. */
export class SecretFileInvalid extends invalid(
  'SecretFileInvalid',
  'Name a file that holds the value, or leave the setting unset.',
) {
  readonly problem: string;

  constructor(name: string, problem: string) {
    super(`${name}_FILE ${problem}`);
    this.problem = problem;
  }
}

/**
 * The value of a setting, or the content of the file that `<name>_FILE` names. Blank counts as not set.
 * @throws SecretFileInvalid when both are set, or the file cannot be read, is empty or is not UTF-8
 */
export function secretOf(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const value = env[name]?.trim() ?? '';
  const path = env[`${name}_FILE`]?.trim() ?? '';
  if (path === '') return value === '' ? undefined : value;
  if (value !== '') throw new SecretFileInvalid(name, `is set, and so is ${name}`);
  const content = contentOf(name, path);
  if (content === '') throw new SecretFileInvalid(name, 'names an empty file');
  return content;
}

function contentOf(name: string, path: string): string {
  try {
    return utf8Text(readFileSync(path)).trim();
  } catch (error) {
    if (error instanceof NotUtf8) throw new SecretFileInvalid(name, `names a file that is ${error.problem}`);
    throw new SecretFileInvalid(
      name,
      `names a file that cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`,
    );
  }
}

/** The service's description in a file, or every fault of it, each a text that follows the name of the setting or the option. */
export function serviceDescriptionIn(file: string): ServiceDescription | string[] {
  let content: unknown;
  try {
    content = JSON.parse(utf8Text(readFileSync(file)));
  } catch (error) {
    if (error instanceof NotUtf8) return [`names a file that is ${error.problem}`];
    return [`names a file that ${error instanceof SyntaxError ? 'is not JSON' : 'cannot be read'}`];
  }
  const description = checkedDescription(content);
  return Array.isArray(description) ? description.map((fault) => `names a file with a fault: ${fault}`) : description;
}

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
