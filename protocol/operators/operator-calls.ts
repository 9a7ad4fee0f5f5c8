import { isObject } from '../../service/json-object.js';
import type { WebhookPlace } from '../../service/management/webhooks.js';
import type { Duration } from '../time.js';
import { isAddressable, notificationReplayId, rejectedEventsId, webhookEndpointsId, type OfActor } from '../ids.js';
import type { ReplayNotificationsInput, ReplayNotificationsResult } from './notification-replay.js';
import {
  type DiscardRejectedEventInput,
  type ListRejectedEventsInput,
  type RejectedEventState,
  rejectedEventStates,
  type RejectedEventsPage,
  type ReplayRejectedEventsInput,
  type ReplayRejectedEventsResult,
} from './rejected-events.js';
import { isSignedUrl } from '../report/signed-url.js';
import type {
  OneWebhook,
  WebhookChange,
  WebhookDeleted,
  WebhookEndpoint,
  WebhookHeadersRead,
  WebhookHeadersSet,
  WebhookRegistered,
  WebhookSecretRotated,
  WebhookToRegister,
} from './webhook-endpoints.js';

/**
 * An operator's calls to a worker, which has the management key and the database: one table for all of them. Each call is one run of
 * one workflow, and its result is the answer. docs/messages.md shows the same as JSON for backends in other languages.
 */

export const operatorCallName = 'operatorCall';

/** Each call's input and answer. An activity of the same name carries it out. */
export interface OperatorCalls {
  listWebhooks: { takes: WebhookPlace; answers: WebhookEndpoint[] };
  /** An endpoint with the same address is not created twice; the existing one is returned. */
  registerWebhook: { takes: WebhookToRegister; answers: WebhookRegistered };
  readWebhook: { takes: OneWebhook; answers: WebhookEndpoint };
  updateWebhook: { takes: OneWebhook & WebhookChange; answers: WebhookEndpoint };
  readWebhookHeaders: { takes: OneWebhook; answers: WebhookHeadersRead };
  /** Replaces all headers. */
  setWebhookHeaders: { takes: OneWebhook & { headers: Readonly<Record<string, string>> }; answers: WebhookHeadersSet };
  /** With a secret that the receiver knows already, no delivery is refused; without one, the service makes it. */
  rotateWebhookSecret: { takes: OneWebhook & { secret?: string }; answers: WebhookSecretRotated };
  deleteWebhook: { takes: OneWebhook; answers: WebhookDeleted };
  listRejectedEvents: { takes: ListRejectedEventsInput; answers: RejectedEventsPage };
  replayRejectedEvents: { takes: ReplayRejectedEventsInput; answers: ReplayRejectedEventsResult };
  discardRejectedEvent: { takes: DiscardRejectedEventInput; answers: { id: string; state: 'discarded' } };
  /** Sends again, with the same ids, what the product accepted since then, as far as histories go back. */
  replayNotifications: { takes: ReplayNotificationsInput; answers: ReplayNotificationsResult };
}

export type OperatorCallName = keyof OperatorCalls;
export type TakenBy<Name extends OperatorCallName> = OperatorCalls[Name]['takes'];
export type AnswerOf<Name extends OperatorCallName> = OperatorCalls[Name]['answers'];

/** The input of the workflow: a call's name, what it takes, and who sends it. */
export type OperatorCall = { [Name in OperatorCallName]: { do: Name } & OfActor & TakenBy<Name> }[OperatorCallName];

interface Row<Taken> {
  /** A rule for each field. */
  takes: Readonly<Record<keyof Taken & string, Rule>>;
  /** The workflow ID: two calls with the same one never run at once. `unique` is an id that no other run has; if the call `joins`, the task queue, without slashes. */
  id: (input: Taken, unique: string) => string;
  /** A call whose run is under way waits for its end, and does not start another. */
  joins?: true;
  /** The secret that would be readable in Temporal without encryption. */
  credential?: (input: Taken) => string | undefined;
  /** How long the run may take: a call that no worker has taken up by then is not carried out hours later. */
  within: Duration;
  /** How long its caller waits by default. */
  deadline: Duration;
  /** The consequence of an answer that did not come. */
  unanswered: string;
}

interface Rule {
  must: string;
  holds: (value: unknown) => boolean;
}

/** As `Date.toISOString` writes it: it is part of a workflow ID and of a query. */
const isInstant = (value: unknown) =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) && new Date(value).toISOString() === value;

const isText = (value: unknown) => typeof value === 'string' && value !== '';

/** Null counts as absent: other languages write it so. */
const optional = ({ must, holds }: Rule): Rule => ({ must, holds: (value) => value == null || holds(value) });

/** Part of a workflow ID, which is readable: an e-mail address, for example, must not be. */
const id: Rule = { must: 'be 1 to 128 letters, digits, dots, hyphens or underscores', holds: isAddressable };
const text: Rule = { must: 'be a non-empty string', holds: isText };
const address: Rule = {
  must: 'be an http or https address',
  holds: (value) => typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
};
const eventTypes: Rule = {
  must: 'be a list of non-empty strings',
  holds: (value) => Array.isArray(value) && value.every(isText),
};
const headers: Rule = {
  must: 'be an object of HTTP header names with values in printable ASCII',
  holds: (value) =>
    isObject(value) &&
    Object.entries(value).every(
      ([name, its]) =>
        /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && typeof its === 'string' && /^[\x20-\x7e]*$/.test(its),
    ),
};
/** A secret that a caller makes is long enough not to be guessed: 32 characters of base64 are 24 bytes. */
const secret: Rule = {
  must: 'be whsec_ followed by base64 of at least 24 bytes, without v1 or anything else before it',
  holds: (value) => typeof value === 'string' && /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(value),
};
const limit = (most: number): Rule => ({
  must: `be a whole number from 1 to ${most}`,
  holds: (value) => Number.isInteger(value) && (value as number) > 0 && (value as number) <= most,
});

const place = { orgId: id, teamId: id, environment: id };
const webhook = { ...place, webhookId: id };
const change = {
  url: optional(address),
  description: optional({ must: 'be a string', holds: (value) => typeof value === 'string' }),
  disabled: optional({ must: 'be true or false', holds: (value) => typeof value === 'boolean' }),
  eventTypes: optional(eventTypes),
  rateLimit: optional({
    must: 'be a whole number above zero, or null',
    holds: (value) => Number.isSafeInteger(value) && (value as number) > 0,
  }),
};
const filter = {
  eventType: optional(text),
  reason: optional(text),
  after: optional({
    must: 'be the id of a rejected event',
    holds: (value) => typeof value === 'string' && /^\d{1,18}$/.test(value),
  }),
};

/** Two commands on one team's endpoints wait for each other: what one makes is there when the next one looks. */
const ofTeam = {
  id: webhookEndpointsId,
  within: '10 minutes',
  deadline: '30 seconds',
  unanswered:
    'The command is carried out within ten minutes, or not at all: list the endpoints before you send it again.',
} as const;

const ofStore = {
  id: (_input: unknown, unique: string) => rejectedEventsId(unique),
  within: '10 minutes',
  deadline: '30 seconds',
} as const;

const inUrl = ({ url }: { url?: string }) =>
  isSignedUrl(url ?? '') ? 'An address that is a credential by itself' : undefined;
const inHeaders = () => 'A header that is a credential';

export const operatorCalls: { readonly [Name in OperatorCallName]: Row<TakenBy<Name>> } = {
  listWebhooks: { ...ofTeam, takes: place },
  // A secret is answered with once: the caller must not leave before the command has ended.
  registerWebhook: {
    ...ofTeam,
    takes: { ...place, url: address, eventTypes: optional(eventTypes) },
    credential: inUrl,
    deadline: '10 minutes',
  },
  readWebhook: { ...ofTeam, takes: webhook },
  updateWebhook: { ...ofTeam, takes: { ...webhook, ...change }, credential: inUrl },
  readWebhookHeaders: { ...ofTeam, takes: webhook, credential: inHeaders },
  setWebhookHeaders: { ...ofTeam, takes: { ...webhook, headers }, credential: inHeaders },
  rotateWebhookSecret: {
    ...ofTeam,
    takes: { ...webhook, secret: optional(secret) },
    credential: () => 'A new signing secret',
    deadline: '10 minutes',
    unanswered:
      'The endpoint may have a new secret within ten minutes, and this call does not answer with it: take it from ' +
      "the service's dashboard, or rotate again.",
  },
  deleteWebhook: { ...ofTeam, takes: webhook },
  listRejectedEvents: {
    ...ofStore,
    takes: {
      ...filter,
      state: optional({
        must: 'be waiting, replayed, discarded or expired',
        holds: (value) => rejectedEventStates.includes(value as RejectedEventState),
      }),
      limit: optional(limit(1_000)),
    },
    unanswered: 'The list is read within ten minutes, or not at all; nothing is changed by it: ask again.',
  },
  replayRejectedEvents: {
    ...ofStore,
    // Without an id it means all of them, so null is not taken for none.
    takes: {
      ...filter,
      id: { must: text.must, holds: (value: unknown) => value === undefined || isText(value) },
      limit: optional(limit(10_000)),
    },
    // A page of fifty may take twenty minutes where everything is slow, and there may be many.
    within: '1 day',
    // A hundred events are handled in seconds, ten thousand in minutes.
    deadline: '10 minutes',
    unanswered: 'The replay continues, for a day at most: list what is still waiting before you replay again.',
  },
  discardRejectedEvent: {
    ...ofStore,
    takes: {
      id: text,
      reason: {
        must: 'be a string that is not blank, of at most 500 characters',
        holds: (value) => typeof value === 'string' && value.trim() !== '' && value.length <= 500,
      },
    },
    unanswered:
      'The event is discarded within ten minutes, or not at all: send the same command again, which is success if it was.',
  },
  replayNotifications: {
    id: ({ since }, taskQueue) => notificationReplayId(since, taskQueue),
    joins: true,
    takes: {
      since: {
        must: 'be a time in UTC with milliseconds, such as 2026-11-27T18:00:00.000Z',
        holds: isInstant,
      },
    },
    // It reads the history of every workflow that is open: a hundred thousand take an hour.
    within: '1 day',
    deadline: '10 minutes',
    unanswered: 'The replay continues, for a day at most: the same call waits for its end.',
  },
};

/** Everything that is wrong with an input, by field. No message contains a value: it may be a credential. */
export function callFaults(name: OperatorCallName, input: unknown): { field: string; message: string }[] {
  if (!isObject(input)) return [{ field: 'input', message: 'must be an object' }];
  const { takes } = operatorCalls[name];
  const rules = Object.entries<Rule>(takes);
  const unknown = Object.keys(input).filter((field) => !Object.hasOwn(takes, field));
  const wrong = rules.filter(([field, { holds }]) => !holds(input[field]));
  const changesNothing =
    name === 'updateWebhook' &&
    Object.keys(change).every((field) => input[field] === undefined) &&
    unknown.length === 0;
  return [
    ...unknown.map((field) => ({ field, message: 'is not known here' })),
    ...wrong.map(([field, { must }]) => ({ field, message: `must ${must}` })),
    ...(changesNothing ? [{ field: 'change', message: 'must have at least one field' }] : []),
  ];
}

/** The reason why a call needs encryption, if it does. `name` may be that of one of its steps. */
export function unprotected(name: string, input: object): string | undefined {
  const calls: Readonly<Partial<Record<string, Row<never>>>> = operatorCalls;
  const what = calls[name]?.credential?.(input as never);
  return (
    what &&
    `${what} would be readable in Temporal, because payloads are not encrypted: set LABOPS_ENCRYPTION_KEYS for worker and client`
  );
}
