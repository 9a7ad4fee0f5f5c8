import type { CodeAnswer, LinkResult, LinkState, LinkUrl } from '../../protocol/link/messages.js';
import type { LinkReport } from '../../protocol/link/link-report.js';
import { deadlinesOf } from '../../workflows/link/deadlines.js';
import type { Link } from '../../workflows/link/link.js';
import { linkProvider } from '../../workflows/link/workflow.js';
import {
  afterCommand,
  afterEvent,
  fails,
  noAnswer,
  endOf,
  reportedOrNot,
  type Left,
  carriedIn,
  type Choose,
  type Model,
  type Move,
  type State,
  type Step,
  orderOf,
} from './model.js';
import type { ActivityCall, Answer, Message } from './run.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

interface LinkWorld {
  /** The service has the connection. */
  isConnected: boolean;
  left: Left;
}

const minute = 60_000;
const userId = '00000000-0000-4000-8000-000000000001';
const provider = 'oura';
const policy = resolvePolicy('link', {
  ...{ tokenLife: '10m', passwordWait: '30m', codeWait: '20m', codeReminder: '5m', totalWait: '1h' },
  ...{ confirmationWait: '1m', maxCodeAttempts: 2, maxPasswordAttempts: 2 },
});

/** One error of each consequence, and one that is not known. */
const errors = [
  'incorrect_mfa_code',
  'provider_credential_error',
  'token_expired',
  'token_consumed',
  'duplicate_connection',
  'user_cancelled',
  'unheard_of',
];

const answers: readonly LinkReport[] = [
  { state: 'success' },
  { state: 'pending_provider_mfa' },
  { state: 'unheard_of' },
  ...errors.map((errorType) => ({ state: 'error', errorType })),
];

/** One link of a user with a provider, from its first token to its end. */
export function linkModel(left: Left): Model<LinkWorld> {
  return {
    name: 'link',
    workflowId: `link-provider/${userId}/${provider}`,
    workflow: linkProvider,
    beginnings: [
      {
        input: { userId, provider, policy },
        update: { name: 'requestLink', argument: {} },
        world: { isConnected: false, left },
      },
    ],
    events,
    commands,
    answer,
    essence,
    faults,
    phaseOf: (state) => endOf(state) ?? carriedIn<Link>(state.input).phase,
  };
}

function events({ world, result }: State<LinkWorld>): Move<LinkWorld>[] {
  // A later webhook starts no link.
  if (result !== undefined) return [];
  const signal = { name: 'connectionReported' };
  const same = afterEvent(world, () => undefined);
  return [
    ...reportedOrNot('connected', { ...same, isConnected: true }, signal),
    { name: 'an older connection is reported', world: same, signal },
  ];
}

function commands({ world }: State<LinkWorld>): Move<LinkWorld>[] {
  const updates: Message[] = [
    { name: 'requestLink', argument: {} },
    ...answers.map((argument) => ({ name: 'reportLinkResult', argument })),
    { name: 'submitMfaCode', argument: { code: '1234' } },
    { name: 'cancel' },
  ];
  return updates.map((update) => ({ name: `command ${wordsOf(update)}`, update, world: afterCommand(world) }));
}

function wordsOf({ name, argument }: Message): string {
  const { state, errorType } = (argument ?? {}) as Partial<LinkReport>;
  return [name, state, errorType].filter((word) => word !== undefined).join(' ');
}

/** The service does not answer, or loses the answer to a code that has worked. */
function answer(world: LinkWorld, { name }: ActivityCall, choose: Choose): Answer {
  const isLost = fails(world, choose);
  if (isLost && name !== 'completeMfa') return noAnswer;
  switch (name) {
    case 'createLinkToken':
      return {
        value: { linkToken: 'token', linkWebUrl: 'https://link.example/token', notifies: true, connections: [] },
      };
    case 'findConnection':
      return { value: { found: world.isConnected ? 'new' : 'none', notifies: true } };
    case 'completeMfa': {
      const report = answers[choose(answers.length)];
      if (report?.state === 'success') world.isConnected = true;
      return isLost ? noAnswer : { value: { report } };
    }
    default:
      return { value: null };
  }
}

function essence({ input, world, result, now }: State<LinkWorld>): unknown {
  if (result !== undefined) return [(result as LinkResult).outcome, world];
  const link = carriedIn<Link>(input);
  const { journal: _journal, policy: _policy, raised: _raised, tokens: _tokens, ...rest } = link;
  return [rest, orderOf(deadlinesOf(link), now, 5 * minute), world];
}

function faults(step: Step<LinkWorld>): string[] {
  const { after, announced, calls } = step;
  const result = after.result as LinkResult | undefined;
  const found = commandFaults(step);
  if (!result) return found;
  const isRead = calls.some(({ call, answer: given }) => call.name === 'findConnection' && 'value' in given);
  if (result.outcome === 'connected' && !after.world.isConnected) found.push('connected without a connection');
  if (result.outcome === 'expired' && !isRead) found.push('expired without a read');
  if (result.outcome === 'expired' && after.world.isConnected) found.push('expired though the user is connected');
  if (!announced.some((id) => id.endsWith('/ended'))) found.push('an end was not announced');
  return found;
}

function commandFaults({ move, reply, after }: Step<LinkWorld>): string[] {
  if (!move.update || reply?.value === undefined) return [];
  const { linkToken, expiresAt = '' } = reply.value as Partial<LinkUrl>;
  const { phase, outcome } = reply.value as Partial<LinkState>;
  const { state, attemptsLeft } = reply.value as Partial<CodeAnswer>;
  switch (move.update.name) {
    case 'requestLink':
      return linkToken !== undefined && Date.parse(expiresAt) > after.now
        ? []
        : ['a link that cannot be used was given'];
    case 'cancel':
      return outcome === 'cancelled' ? [] : ['a cancellation was acknowledged and had no effect'];
    case 'reportLinkResult':
      return phase === undefined ? ['a report was acknowledged and had no effect'] : [];
    default:
      return state && attemptsLeft !== undefined ? [] : ['a code was acknowledged and had no effect'];
  }
}
