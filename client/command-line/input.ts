import { InvalidArgumentError, type Command } from 'commander';
import { durationMs, isTime, mustBeTime, type Duration } from '../../protocol/time.js';
import { NotUtf8, utf8Text } from '../files.js';
import { UsageError, Ended, exitCodes } from './failures.js';
import type { Terminal } from './terminal.js';
import { isObject, jsonIn } from '../../service/json-object.js';
import type { RegisterCommand } from '../../protocol/order/messages.js';
import type { PlaceKitOrderInput } from '../../protocol/order/placing-messages.js';
import type { OrderPolicy } from '../../protocol/order/policy.js';
import type { ReportSubmission } from '../report/reports.js';

/*
 * Input of a command beyond its options. Persons and addresses are passed in a file or on standard input, because a
 * command line ends up in the shell's history and is visible to everybody on the machine.
 */

/** The text of a file, or of standard input for `-`. An error quotes nothing of it. */
export async function readText(terminal: Terminal, path: string): Promise<string> {
  const bytes = path === '-' ? await terminal.readAll() : await bytesOf(terminal, path);
  try {
    return utf8Text(bytes);
  } catch (error) {
    if (!(error instanceof NotUtf8)) throw error;
    throw new UsageError(`${sourceOf(path)} is ${error.problem}`);
  }
}

/**
 * The text of a file that an option names, without white space around it: a note, or a reference of the product, may be about a person, and a
 * command line ends up in the shell's history.
 */
export async function textOf(terminal: Terminal, path: string | undefined): Promise<string | undefined> {
  return path === undefined ? undefined : (await readText(terminal, path)).trim();
}

async function bytesOf(terminal: Terminal, path: string): Promise<Uint8Array> {
  try {
    return await terminal.readFile(path);
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new UsageError(`The file ${path} cannot be read (${code})`, { cause: error });
  }
}

/** A JSON object; the lab operations check its content. An error quotes nothing of the text. */
export async function readObject(terminal: Terminal, path: string): Promise<object> {
  const name = sourceOf(path);
  const value = jsonIn(await readText(terminal, path));
  if (value === undefined) throw new UsageError(`${name} is not JSON`);
  if (isObject(value)) return value;
  throw new UsageError(`${name} is not a JSON object`);
}

function sourceOf(path: string): string {
  return path === '-' ? 'Standard input' : `The file ${path}`;
}

/* The bodies that commands read from a file or from standard input, each with an example; a test gives each to its command. */

const person = { first_name: 'Testperson', last_name: 'Invented', dob: '1990-01-31', gender: 'female' } as const;
const address = { first_line: '1 Invented Street', city: 'Springfield', state: 'IL', zip: '62701', country: 'US' };

export const examples = {
  order: {
    reference: 'order-1001',
    kind: 'unregistered',
    order: {
      user_id: '2f6b3a52-1111-4222-8333-944455556666',
      lab_test_id: '7e570000-0000-4000-8000-000000000001',
      shipping_details: { receiver_name: 'Testperson Invented', ...address, phone_number: '+12175550100' },
    },
    policy: { onLost: 'replace', replacementLimit: 2 },
  } satisfies PlaceKitOrderInput,
  registration: {
    sample_id: 'sample-1001',
    patient_details: { ...person, phone_number: '+12175550100', email: 'testperson@example.com' },
    patient_address: { ...address, phone_number: '+12175550100' },
  } satisfies RegisterCommand['registration'],
  policy: { shippingDeadline: '8d', onLost: 'replace' } satisfies OrderPolicy,
  adoptions: 'orderId,reference\n9c1d6f7e-1111-4222-8333-944455556666,order-1001\n',
  report: {
    reference: 'report-1001',
    userId: '2f6b3a52-1111-4222-8333-944455556666',
    file: { path: 'report-1001.pdf' },
  } satisfies ReportSubmission,
  linkAnswer: { state: 'pending_provider_mfa', provider_mfa: { method: 'sms', hint: '*** 17' } },
  headers: { 'X-Invented-Header': 'its value' } satisfies Record<string, string>,
} as const;

/**
 * An option that prints an example of a command's body: `labops orders place --example > order.json`. Nothing else of the command line
 * is read.
 */
export function withExample(command: Command, terminal: Terminal, example: object | string): Command {
  return command.option('--example', 'print an example of the file, and do nothing else').on('option:example', () => {
    terminal.out(typeof example === 'string' ? example : `${JSON.stringify(example, undefined, 2)}\n`);
    throw new Ended(exitCodes.done);
  });
}

/* Parsers of option values. Their errors are wrong usage, with the option's name in front. */

/** Nothing is answered sooner, and nobody waits longer. */
const [shortestMs, longestMs] = [1000, 365 * 86_400_000];

export function duration(text: string): Duration {
  const span = durationMs(text.trim());
  if (span !== undefined && span >= shortestMs && span <= longestMs) return text.trim() as Duration;
  throw new InvalidArgumentError('It must be a duration with its unit, such as 90s or 5m, from 1s to 365d.');
}

export function time(text: string): Date {
  if (isTime(text)) return new Date(text);
  throw new InvalidArgumentError(`It ${mustBeTime}.`);
}

export function count(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

export function days(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError('It must be a number of days above 0.');
}

/** A name as shown in tables, with spaces, or as written on the wire. */
export function name(text: string): string {
  const written = text.trim().toLowerCase().replaceAll(/[ -]+/g, '_');
  if (/^[a-z0-9_]{1,64}$/.test(written)) return written;
  throw new InvalidArgumentError('It must be a name such as awaiting_registration.');
}

/** For options that may be given more than once. */
export function collect(text: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), text];
}
