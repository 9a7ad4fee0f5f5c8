import { printable } from '../../client/command-line/output.js';

/** The result of a check. `found` and `remedy` are sentences; neither holds a secret, a name or an address of a person. */
export type Verdict =
  | { status: 'ok'; found: string }
  /** Something that it needs is not there or not known; `found` says what. */
  | { status: 'not_checked'; found: string }
  | { status: 'warning' | 'fault'; found: string; remedy: string };

export type Finding = Verdict & { check: string };

export function ok(found: string): Verdict {
  return { status: 'ok', found };
}

/** @param because completes "Not checked, because …" */
export function notChecked(because: string): Verdict {
  return { status: 'not_checked', found: `Not checked, because ${because}.` };
}

export function warning(found: string, remedy: string): Verdict {
  return { status: 'warning', found, remedy };
}

export function fault(found: string, remedy: string): Verdict {
  return { status: 'fault', found, remedy };
}

/** Longer than a healthy part of a deployment takes for any of these calls. */
export const answerWithinMs = 8_000;

interface Check {
  name: string;
  run: () => Promise<Verdict>;
}

/** Runs the checks side by side. One that fails or takes too long is a fault of its own, and holds up no other. */
export async function runChecks(checks: readonly Check[]): Promise<Finding[]> {
  return Promise.all(checks.map(async ({ name, run }) => ({ check: name, ...(await bounded(run)) })));
}

async function bounded(run: () => Promise<Verdict>): Promise<Verdict> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<Verdict>((resolve) => {
    const found = `There was no answer within ${answerWithinMs / 1000} seconds.`;
    timer = setTimeout(
      () => resolve(fault(found, 'Check the address and the network, and run it again.')),
      answerWithinMs,
    );
  });
  try {
    return await Promise.race([run(), tooLong]);
  } catch (error) {
    return fault(`It could not be checked: ${reasonOf(error)}.`, 'Correct the reason, and run it again.');
  } finally {
    clearTimeout(timer);
  }
}

/** The first line of an error, or its code if it says nothing. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const cause = error.cause instanceof Error ? error.cause : undefined;
  const { code } = (cause ?? error) as { code?: unknown };
  // `fetch` says "fetch failed", and the reason is in the cause's code.
  if (cause && typeof code === 'string') return code;
  const { details } = error as { details?: unknown };
  const text = typeof details === 'string' && details !== '' ? details : error.message;
  return text.split('\n', 1).join('').replace(/\.$/, '').slice(0, 300) || error.name;
}

const labels = { ok: 'ok', warning: 'warning', fault: 'fault', not_checked: 'not checked' } as const;

/** One line for each finding. */
export function linesOf(findings: readonly Finding[]): string[] {
  const width = Math.max(0, ...findings.map(({ check }) => check.length));
  return findings.map((finding) => {
    const remedy = 'remedy' in finding ? ` ${finding.remedy}` : '';
    return printable(`${labels[finding.status].padEnd(11)}  ${finding.check.padEnd(width)}  ${finding.found}${remedy}`);
  });
}
