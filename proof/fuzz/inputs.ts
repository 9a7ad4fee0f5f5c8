import { ApplicationFailure } from '@temporalio/common';
import { SecretFileInvalid } from '../../client/files.js';
import { checkPlacing } from '../../client/order/placing.js';
import { LabOperationsError } from '../../service/lab-operations-error.js';
import { defaultAppointmentPolicy } from '../../protocol/appointment/policy.js';
import { defaultDeletionPolicy } from '../../protocol/deletion/policy.js';
import { defaultLinkPolicy } from '../../protocol/link/policy.js';
import { defaultMatchReviewPolicy } from '../../protocol/match-review/policy.js';
import { callFaults } from '../../protocol/operators/operator-calls.js';
import { defaultPolicy } from '../../protocol/order/policy.js';
import { PolicyInvalid, PolicyTooNew } from '../../protocol/policy/resolution.js';
import { rangeFaults } from '../../protocol/reconcile.js';
import { defaultReportPolicy } from '../../protocol/report/policy.js';
import { readCodecServerConfig, readIngressConfig, readWorkerConfig } from '../../workers/settings/config.js';
import { mutated, textOf } from './mutate.js';
import { oddValue } from './odd-values.js';
import type { Random } from './random.js';
import { operatorInputs, placings, settings } from './input-seeds.js';
import type { Tally } from './tally.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

/** A check that an input meets before anything happens with it, and what a good input looks like. */
interface Check {
  name: string;
  seed: unknown;
  /** True: the compiler demands an object of its callers, and without one a TypeError is their own mistake. */
  isObject?: true;
  /** @throws one of the documented errors, or returns */
  run: (input: never) => unknown;
}

const checks: readonly Check[] = [
  ...placings.map((seed) => ({
    name: 'order to place',
    seed,
    isObject: true as const,
    run: (input: never) => checkPlacing(input, undefined),
  })),
  { name: 'policy of orders', seed: defaultPolicy, run: (input) => resolvePolicy('order', input) },
  { name: 'policy of links', seed: defaultLinkPolicy, run: (input) => resolvePolicy('link', input) },
  { name: 'policy of reports', seed: defaultReportPolicy, run: (input) => resolvePolicy('report', input) },
  {
    name: 'policy of appointments',
    seed: defaultAppointmentPolicy,
    run: (input) => resolvePolicy('appointment', input),
  },
  { name: 'policy of deletions', seed: defaultDeletionPolicy, run: (input) => resolvePolicy('deletion', input) },
  { name: 'policy of reviews', seed: defaultMatchReviewPolicy, run: (input) => resolvePolicy('match review', input) },
  { name: 'range to reconcile', seed: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }, run: rangeFaults },
  ...operatorInputs.map(([name, seed]) => ({
    name: `operator's call ${name}`,
    seed,
    run: (input: never) => callFaults(name, input),
  })),
];

const readers = [readWorkerConfig, readIngressConfig, readCodecServerConfig];

/** Gives mutated inputs to everything that checks an input before anything happens: start inputs, policies, operators' calls, settings. */
export async function fuzzInputs(random: Random, count: number, tally: Tally): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    if (random.oneIn(5)) await takeSettings(random, tally);
    else {
      const check = random.pick(checks);
      const spoilt = random.oneIn(30) ? oddValue(random) : mutated(random, check.seed);
      await takeInput(check, textOf(spoilt), tally);
    }
  }
}

/** One input, as JSON: what comes from Temporal or from a caller's file is read from it. */
export async function takeInput({ name, isObject, run }: Check, text: string, tally: Tally): Promise<void> {
  const value: unknown = text === '' ? undefined : JSON.parse(text);
  if (isObject && (typeof value !== 'object' || value === null)) return tally.count(`${name}: not sent`);
  await attempt(name, text, () => run(value as never), tally);
}

async function takeSettings(random: Random, tally: Tally): Promise<void> {
  const spoilt: unknown = mutated(random, settings);
  const text = textOf(spoilt);
  const given: unknown = text === '' ? {} : JSON.parse(text);
  // An environment has names: the characters of a long text would be a million of them, which no system passes on.
  if (typeof given !== 'object' || given === null) return tally.count('settings: not sent');
  const pairs = Object.entries(given).map(([name, value]): [string, string] => [
    name,
    typeof value === 'object' ? '{}' : String(value),
  ]);
  const read = random.pick(readers);
  await attempt('settings', text, () => read(Object.fromEntries(pairs)), tally);
}

/** Counts after the time is taken: a slow run is repeated, and is still one case. */
async function attempt(name: string, input: string, run: () => unknown, tally: Tally): Promise<void> {
  const text = () => input;
  const outcome = await tally.timed(input.length, text, () => Promise.resolve(outcomeOf(run)));
  if (!('error' in outcome)) return tally.count(`${name}: answered`);
  const { error } = outcome;
  tally.count(`${name}: ${error instanceof Error ? error.name : typeof error}`);
  if (!isDocumented(error)) tally.found(`${name} was refused by ${String(error)}`, input);
  else if (error.message.length > 20_000 + 10 * input.length) tally.found(`${name} was refused at great length`, input);
}

function outcomeOf(run: () => unknown): { error: unknown } | Record<string, never> {
  try {
    run();
    return {};
  } catch (error) {
    return { error };
  }
}

function isDocumented(error: unknown): error is Error {
  return [LabOperationsError, ApplicationFailure, PolicyInvalid, PolicyTooNew, SecretFileInvalid].some(
    (kind) => error instanceof kind,
  );
}
