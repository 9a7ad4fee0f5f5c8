import { readFileSync } from 'node:fs';
import { NotUtf8, utf8Text } from './utf8.js';

/*
 * Secrets may be in files, as container platforms mount them: a process's environment is visible in /proc and in
 * `docker inspect`.
 */

/** The fault of `<SETTING>_FILE`, as a text that follows its name; never the file's content. */
export class SecretFileInvalid extends Error {
  override readonly name = 'SecretFileInvalid';
}

/**
 * The value of a setting, or the content of the file that `<name>_FILE` names. Blank counts as not set.
 * @throws SecretFileInvalid when both are set, or the file cannot be read, is empty or is not UTF-8
 */
export function secretOf(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const value = env[name]?.trim() ?? '';
  const path = env[`${name}_FILE`]?.trim() ?? '';
  if (path === '') return value === '' ? undefined : value;
  if (value !== '') throw new SecretFileInvalid(`is set, and so is ${name}`);
  const content = contentOf(path);
  if (content === '') throw new SecretFileInvalid('names an empty file');
  return content;
}

function contentOf(path: string): string {
  try {
    return utf8Text(readFileSync(path)).trim();
  } catch (error) {
    if (error instanceof NotUtf8) throw new SecretFileInvalid(`names a file that is ${error.problem}`);
    throw new SecretFileInvalid(
      `names a file that cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`,
    );
  }
}
