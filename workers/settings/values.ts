import { jsonIn } from '../../service/json-object.js';
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { namesIn } from '../../client/config.js';
import { KeyRingInvalid, parseKeyRing } from '../../client/encryption/key-ring.js';
import { isWebAddress, word, path } from '../../service/description.js';
import { isInstallationName } from '../../service/installation.js';
import { parseSecret, WebhookSecretInvalid } from '../../service/webhooks/signature.js';
import { NotUtf8, utf8Text } from '../../client/files.js';
import { checkHeaderSets } from '../../activities/report-file/hosts.js';
import type { HeaderSet } from '../../activities/report-file/report-files.js';
import { invalid } from '../../service/lab-operations-error.js';

export interface SettingFault {
  setting: string;
  /** The fault, as a text that follows the setting's name. */
  problem: string;
  /** The remedy. */
  remedy: string;
}

/** The settings are not valid. Holds every fault; shows no value, because any of them may be a secret. */
export class ConfigInvalid extends invalid('ConfigInvalid', 'Correct the settings that are named.') {
  static override readonly advises = true;
  readonly faults: readonly SettingFault[];

  /** @param hints sentences that may explain them */
  constructor(faults: readonly SettingFault[], hints: readonly string[] = []) {
    const lines = faults.map(({ setting, problem, remedy }) => `  ${setting} ${problem}: ${remedy}.`);
    const count = faults.length === 1 ? 'One setting is' : `${faults.length} settings are`;
    const fields = faults.map(({ setting, problem, remedy }) => ({ field: setting, message: `${problem}: ${remedy}` }));
    super(`${count} invalid:\n${[...lines, ...hints.map((hint) => `  ${hint}`)].join('\n')}`, { fields });
    this.faults = faults;
  }
}

/*
 * The kinds of values that settings have. A fault is a text that follows the setting's name, and never repeats a value: it may be a
 * secret in the wrong place.
 */

export const mebibyte = 1024 * 1024;

const missing = { error: 'is missing' };

export function wholeNumber(least: number, most: number) {
  const error = `is not a whole number from ${least} to ${most}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, { error, abort: true })
    .transform(Number)
    .refine((number) => number >= least && number <= most, { error });
}

/** The fault does not state the rule, because the instruction that follows it does. */
export const installationName = z.string(missing).refine(isInstallationName, { error: 'cannot be a name' });

/** Texts, separated by commas. */
export const list = z.string(missing).transform(namesIn);

export const installationNames = list.refine((names) => names.every(isInstallationName), {
  error: 'holds a name that is not 1 to 32 letters, digits, dots, hyphens and underscores',
});

/** Faults name a secret by its position, because the secret itself must not be shown. */
export const secretList = list.superRefine((secrets, context) => {
  if (secrets.length === 0) context.addIssue({ code: 'custom', message: 'holds no secret' });
  for (const [index, secret] of secrets.entries()) {
    const fault = secretFault(secret);
    const which = secrets.length === 1 ? '' : `(secret ${index + 1} of ${secrets.length}) `;
    if (fault !== undefined) context.addIssue({ code: 'custom', message: `${which}${fault}` });
  }
});

/** The token that a request brings as `Authorization: Bearer …`. */
export const bearerToken = word(/^[\x21-\x7e]{24,}$/, 'is not 24 characters or more without spaces');

/** The length of a secret from `openssl rand -base64 24`, which cannot be guessed. */
export const enoughSecretBytes = 24;

/** A secret that we choose ourselves. */
export const secret = z.string(missing).superRefine((text, context) => {
  const fault = secretFault(text) ?? shortFault(parseSecret(text).length);
  if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
});

function shortFault(bytes: number): string | undefined {
  return bytes < enoughSecretBytes ? `has ${bytes} bytes instead of at least ${enoughSecretBytes}` : undefined;
}

function secretFault(text: string): string | undefined {
  try {
    parseSecret(text);
    return undefined;
  } catch (error) {
    if (error instanceof WebhookSecretInvalid) return error.problem;
    throw error;
  }
}

export const keyRing = z.string(missing).transform((text, context) => {
  try {
    return parseKeyRing(text);
  } catch (error) {
    if (!(error instanceof KeyRingInvalid)) throw error;
    for (const message of error.faults) context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }
});

/** A private key for signatures, as PEM. */
export const ed25519Key = z.string(missing).transform((text, context) => {
  try {
    const key = createPrivateKey(text);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The error may quote the key.
  }
  context.addIssue({ code: 'custom', message: 'is not an Ed25519 private key in PEM' });
  return z.NEVER;
});

/** Web origins, as a browser sends them. */
export const originList = list.refine((origins) => origins.length > 0 && origins.every(isOrigin), {
  error: 'is not a list of origins such as https://temporal.example.com',
});

function isOrigin(text: string): boolean {
  // A `*` is literal in an address, and would never match.
  return isWebAddress(text) && new URL(text).origin === text && !text.includes('*');
}

export const host = word(/^\S+$/, 'is not a host name or address');
export const port = wholeNumber(0, 65_535);

/**
 * Off must be stated, not concluded from a missing setting: one worker that lacks a setting must not decide for all.
 */
export const onOff = z.enum(['on', 'off'], { error: 'is neither on nor off' }).default('on');

export function flag(defaultValue: boolean) {
  return z
    .enum(['true', 'false'], { error: 'is neither true nor false' })
    .default(defaultValue ? 'true' : 'false')
    .transform((text) => text === 'true');
}

/** Names or addresses, each with a port if only that port is meant. */
export const hostList = list
  .transform((hosts) => hosts.map((host) => host.toLowerCase()))
  .refine((hosts) => hosts.every((host) => /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/.test(host)), {
    error: 'is not a list of hosts such as files.internal:8443',
  });

/** PostgreSQL's own form of address; the password in it is never shown. */
export const databaseAddress = z
  .string()
  .refine((text) => URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol), {
    error: 'is not the address of a PostgreSQL database',
  });

const headerSetsSchema = z.record(
  z.string(),
  z.strictObject({ hosts: z.array(z.string()), headers: z.record(z.string(), z.string()) }),
);

/** The path of a file with headers. A parser's message quotes the text around the fault, which contains secrets: only the kind of fault is reported. */
export const headerSetsFile = path.transform((file, context): Record<string, HeaderSet> => {
  const refused = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  const text = textOf(file);
  if (text === undefined) return refused('names a file that cannot be read');
  if (text instanceof NotUtf8) return refused(`names a file that is ${text.problem}`);
  const read = headerSetsSchema.safeParse(jsonIn(text));
  if (!read.success) return refused('names a file that is not a JSON object of header sets');
  try {
    checkHeaderSets(read.data);
    return read.data;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return refused(`names a file with a fault: ${error.message}`);
  }
});

function textOf(file: string): string | NotUtf8 | undefined {
  try {
    return utf8Text(readFileSync(file));
  } catch (error) {
    return error instanceof NotUtf8 ? error : undefined;
  }
}
