import { UsageError } from './exit-codes.js';
import type { Terminal } from './terminal.js';

/*
 * Input of a command beyond its options. Persons and addresses are passed in a file or on standard input, because a
 * command line ends up in the shell's history and is visible to everybody on the machine.
 */

/** The text of a file, or of standard input for `-`. */
export async function readText(terminal: Terminal, path: string): Promise<string> {
  if (path === '-') return terminal.readAll();
  try {
    return await terminal.readFile(path);
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new UsageError(`The file ${path} cannot be read (${code})`, { cause: error });
  }
}

/** A JSON object; the lab operations check its content. An error quotes nothing of the text. */
export async function readObject(terminal: Terminal, path: string): Promise<object> {
  const name = path === '-' ? 'Standard input' : `The file ${path}`;
  const value = parsed(await readText(terminal, path), name);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new UsageError(`${name} is not a JSON object`);
}

function parsed(text: string, name: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's own message quotes the text.
    throw new UsageError(`${name} is not JSON`);
  }
}
