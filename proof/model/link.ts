import type { CodeAnswer, LinkReport, LinkResult, LinkState, LinkUrl } from '../../protocol/link/messages.js';
import { deadlinesOf } from '../../workflows/link/deadlines.js';
import type { Link } from '../../workflows/link/link.js';
import { linkProvider } from '../../workflows/link/workflow.js';
import { afterCommand, afterEvent, fails, noAnswer, type Left } from './faults.js';
import { carriedIn, type Choose, type Model, type Move, type State, type Step } from './model.js';
import type { ActivityCall, Answer, Message } from './run.js';
import { orderOf } from './times.js';
import { resolvePolicy } from '../../protocol/policies.js';

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
    type: 'linkProvider',
    workflowId: `link-provider/${userId}/${provider}`,
    workflow: linkProvider as never,
    beginnings: [
      {
        input: { userId, provider, policy },
        update: { name: 'requestLink', argument: {} },
        world: { isConnected: false, left },
      },
    ],
    moves,
    answer,
    essence,
    faults,
    phaseOf: ({ input, result }) =>
      (result as LinkResult | undefined)?.outcome ?? (carriedIn(input) as unknown as Link).phase,
  };
}

function moves({ world, result, wakesAt }: State<LinkWorld>): Move<LinkWorld>[] {
  if (result !== undefined) return [];
  const connected = afterEvent(world, (next) => (next.isConnected = true));
  const events = [
    { name: 'connected', world: connected, signal: { name: 'connectionReported' } },
    { name: 'connected, unreported', world: connected },
    {
      name: 'an older connection is reported',
      world: afterEvent(world, () => undefined),
      signal: { name: 'connectionReported' },
    },
  ];
  const updates: Message[] = [
    { name: 'requestLink', argument: {} },
    ...answers.map((argument) => ({ name: 'reportLinkResult', argument })),
    { name: 'submitMfaCode', argument: { code: '1234' } },
    { name: 'cancel' },
  ];
  const commands = updates.map((update) => ({
    name: `command ${wordsOf(update)}`,
    update,
    world: afterCommand(world),
  }));
  return [
    ...(wakesAt === undefined ? [] : [{ name: 'the next deadline', deadline: true } as const]),
    ...(world.left.events > 0 ? events : []),
    ...(world.left.commands > 0 ? commands : []),
  ];
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
      return { value: { linkToken: 'token', linkWebUrl: 'https://link.example/token', notifies: true } };
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
  const link = carriedIn(input) as unknown as Link;
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
