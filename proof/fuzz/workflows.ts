import { resolvePolicy } from '../../protocol/policy/policies.js';
import type { PolicyQuestion } from '../../activities/policy.js';
import { Life, unavailable, type Answers } from '../../test/unit/life.js';
import { activityOptions } from '../../workflows/activity-options.js';
import * as workflows from '../../workflows/index.js';
import { commands } from './commands.js';
import { mutated, textOf } from './mutate.js';
import type { Random } from './random.js';
import type { Tally } from './tally.js';
import { longestAttribute } from './webhooks.js';
import { signals, snapshot, targets, type Target } from './targets.js';

const byName: Readonly<Record<string, unknown>> = { ...workflows };

const now = Date.parse('2026-01-05T10:00:00.000Z');

/**
 * Starts workflows with good and with mutated inputs, and sends them mutated signals and commands, on the runtime of the lives:
 * no task may fail, and each must answer in the end.
 */
export async function fuzzWorkflows(random: Random, count: number, tally: Tally): Promise<void> {
  for (let n = 0; n < count; n += 1) await play(random, random.pick(targets), tally);
}

async function play(random: Random, { workflow, id, input }: Target, tally: Tally): Promise<void> {
  const sent: string[] = [];
  const given = (seed: unknown, isSpoilt: boolean): unknown => {
    const text = isSpoilt ? spoiltText(random, seed) : JSON.stringify(seed);
    sent.push(text);
    return JSON.parse(text);
  };
  const found = (problem: string): void => tally.found(`${workflow} ${problem}`, sent.join('\n'));
  const life = new Life({ workflow: byName[workflow], type: workflow, workflowId: id, now }, answersOf(random));
  try {
    await life.start(given(input, random.oneIn(4)));
    for (const { name, seed, policy, isCommand } of someMessages(random, workflow)) {
      const spoilt = given(seed, !random.oneIn(3));
      const argument = policy && typeof spoilt === 'object' ? { ...spoilt, policy } : spoilt;
      if (isCommand) await life.update(name, argument);
      else await life.signal(name, argument);
      if (random.oneIn(4)) await life.until(24);
    }
    check(life, found);
    const answer = await life.run.query('__temporal_workflow_metadata');
    if (answer === undefined) found('does not answer');
  } catch (error) {
    found(String(error));
  }
  const { end } = life.run;
  tally.count(
    `${workflow}: ${end === undefined ? 'open' : end.kind === 'failed' ? end.type.split('\n')[0] : end.kind}`,
  );
}

/** One to three, if the workflow takes any. */
function someMessages(random: Random, workflow: string) {
  const all = [
    ...signals.map((each) => ({ ...each, isCommand: false })),
    ...commands.map((each) => ({ ...each, policy: undefined, isCommand: true })),
  ].filter((each) => each.workflow === workflow);
  return all.length === 0 ? [] : Array.from({ length: 1 + random.below(3) }, () => random.pick(all));
}

/** Larger messages are Temporal's to refuse, and what is deeper no client of its SDK can write. */
function spoiltText(random: Random, seed: unknown): string {
  for (;;) {
    const text = textOf(mutated(random, seed));
    const isDeep = ['[', '{"a":'].some((opening) => text.includes(opening.repeat(1_000)));
    if (text !== '' && text.length < 200_000 && !isDeep) return text;
  }
}

/** An error that no workflow throws on purpose: its stack, or its name. */
const unintended = /\n\s+at |TypeError|RangeError/;

function check({ run }: Life, found: (problem: string) => void): void {
  const { end, replies, shown } = run;
  if (end?.kind === 'failed' && unintended.test(end.type)) found(`failed a task: ${end.type}`);
  for (const { name, refused = '' } of replies)
    if (unintended.test(refused)) found(`refused the command ${name} with ${refused}`);
  for (const [name, value] of Object.entries(shown.attributes)) {
    const words: readonly unknown[] = Array.isArray(value) ? value : [value];
    const isTaken = (word: unknown) => typeof word !== 'string' || Buffer.byteLength(word) <= longestAttribute;
    if (!words.every(isTaken)) found(`has the search attribute ${name}, which is too long`);
    if (words.some((word) => typeof word !== 'string' && !(word instanceof Date)))
      found(`has the search attribute ${name}, which is not a text`);
  }
}

/** What the lab service answers, if it does: enough for a workflow to know what it is about. */
const usual: Answers = {
  readChain: { snapshots: [snapshot], gone: false, rootOrderId: snapshot.orderId, notifies: true },
  readOrder: snapshot,
  createLinkToken: { linkToken: 'token', linkWebUrl: 'https://link.example.com/token', notifies: true },
  findConnection: { found: 'none', notifies: true },
  identifyAppointment: { notifies: true },
  identifyMatchReview: { notifies: true },
  identifyJob: { gone: false, notifies: true, owner: { kind: 'none' } },
  findRunningWork: { work: [], notifies: true },
  readUser: { standing: 'present' },
  scheduleDeletion: 'accepted',
  ...Object.fromEntries(
    ['handOver', 'forwardOrder', 'forwardCriticalResult', 'forwardUnreadable', 'joinChain'].map((name) => [name, null]),
  ),
};

/** Without `notify`: the product receives everything. */
function answersOf(random: Random): Answers {
  const names = Object.keys(activityOptions).filter((name) => name !== 'notify');
  return Object.fromEntries(
    names.map((name) => [
      name,
      (_now: number, argument: unknown) => {
        if (name === 'resolvePolicy') return resolved(argument as PolicyQuestion);
        return name in usual && !random.oneIn(4) ? usual[name] : unavailable;
      },
    ]),
  );
}

function resolved({ of, policy, base }: PolicyQuestion): unknown {
  try {
    return resolvePolicy(of, policy, base);
  } catch {
    return { failure: { type: 'PolicyInvalid' } };
  }
}
