import ms, { type StringValue } from 'ms';

/** The parts that every workflow's policy is made of, and how faults are reported. */

/** A span of time: milliseconds, or a string such as `'36 hours'`, `'7d'`, `'1.5h'` (the `ms` package's grammar). */
export type Duration = number | StringValue;

/** A policy that cannot be followed: the message names the setting and the reason. */
export class PolicyInvalid extends Error {
  override readonly name = 'PolicyInvalid';
  readonly faults: string[];

  /** @param of whose policy it is: `order`, `link` */
  constructor(of: string, faults: string[]) {
    super(`Invalid ${of} policy: ${faults.join('; ')}`);
    this.faults = faults;
  }
}

/** Receives the fault of one setting, as a text that follows its name. */
export type Fault = (problem: string) => void;

const longest = ms('10y');

/** A whole number within the bounds; anything else is a fault. */
export function readCount(value: unknown, fault: Fault, least: number, most: number): unknown {
  if (!Number.isInteger(value) || Number(value) < least || Number(value) > most) {
    fault(`must be a whole number from ${least} to ${most}`);
  }
  return value;
}

/** Milliseconds, rounded up. A fault unless it is a duration within the bounds, which are milliseconds too. */
export function readDuration(value: unknown, fault: Fault, least = 1, most = longest): number {
  // `ms` throws on an empty string; here every fault is collected.
  const span = typeof value === 'string' && value !== '' && value.length <= 100 ? ms(value as StringValue) : value;
  if (typeof span === 'number' && Math.ceil(span) >= least && span <= most) return Math.ceil(span);
  const range = least > 1 ? `at least ${ms(least, { long: true })}` : 'more than 0';
  const limit = most === longest ? '10 years' : ms(most, { long: true });
  fault(`must be a duration such as '7d' or milliseconds, ${range} and at most ${limit}`);
  return 0;
}

export function readDurations(value: unknown, fault: Fault): number[] {
  if (Array.isArray(value) && value.length <= 20) {
    return value.map((entry, index) => readDuration(entry, (problem) => fault(`entry ${index + 1} ${problem}`)));
  }
  fault('must be a list of at most 20 durations');
  return [];
}
