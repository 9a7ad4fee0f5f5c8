import type { SandboxControl } from '../../sandbox/control.js';
import type { Chance } from './chance.js';

/** The processes that can be killed. The stand-in of the service keeps everything in memory, so it is not one of them. */
export const parts = ['temporal', 'worker-1', 'worker-2', 'ingress-1', 'ingress-2'] as const;
export type PartName = (typeof parts)[number];

/** By how many milliseconds the clock of a process is ahead of Temporal's, during the whole run. */
export type Clocks = Record<Exclude<PartName, 'temporal'>, number>;

/** Signatures are valid for five minutes, and a search for an earlier order begins five minutes before it. */
const mostSkewMs = 120_000;

export function clocksOf(chance: Chance): Clocks {
  const skew = () => chance.between(-mostSkewMs, mostSkewMs);
  return { 'worker-1': skew(), 'worker-2': skew(), 'ingress-1': skew(), 'ingress-2': skew() };
}

/** The connections between two parts; each runs through a proxy. */
export const ways = [
  'worker-1 to temporal',
  'worker-2 to temporal',
  'ingresses to temporal',
  'product to temporal',
  'workers to service',
  'service to ingresses',
  'workers to product',
  'workers to database',
  'ingresses to database',
] as const;
export type WayName = (typeof ways)[number];

export const wayFaults = [
  /** Resets every connection, and refuses new ones. */
  'refuse',
  /** Resets every connection once; new ones pass. */
  'reset',
  /** Keeps every connection open and passes nothing on, in either direction. */
  'hang',
  /** Passes everything on late. */
  'delay',
  /** Replaces an answer by noise and closes the connection. */
  'garble',
  /** Passes half of an answer on and closes the connection. */
  'cut',
] as const;
export type WayFault = (typeof wayFaults)[number];

type ServiceFault = Parameters<SandboxControl['addFault']>[0];
type WebhookFault = Parameters<SandboxControl['addWebhookFault']>[0];

export const receiverFaults = ['refuses', 'hangs', 'loses answers'] as const;
export type ReceiverFault = (typeof receiverFaults)[number];

/** One thing that goes wrong: `atMs` after the beginning, for `forMs`. */
export type Fault = { atMs: number; forMs: number } & (
  | { kind: 'kill'; part: PartName }
  | { kind: 'freeze'; part: PartName }
  | { kind: 'way'; way: WayName; does: WayFault }
  | { kind: 'service'; fault: ServiceFault }
  | { kind: 'webhooks'; fault: WebhookFault }
  | { kind: 'receiver'; does: ReceiverFault }
);

/** The paths that the workers call. A user's browser calls the service, too, and its password works once. */
const workerPaths = [
  '/v3/order/testkit',
  '/v3/order',
  '/v3/order/**',
  '/v3/orders',
  '/v2/user/**',
  '/v2/link/token',
  '/v2/link/provider/password/*/complete_mfa',
  '/lab_report/v1/parser/job',
] as const;

/**
 * The messages that may be lost: those that the reconciliation, a poll or a read makes up for within the run. A lost
 * webhook of an appointment is made up for a day after the visit.
 */
const losable = ['labtest.order.created', 'labtest.order.updated', 'provider.connection.created'] as const;

/** How far apart faults begin, on average half of the longest. */
const longestPauseMs = 2_000;
/** Temporal needs some seconds to come back: killed more often, nothing but its starting would be shown. */
const temporalRestsMs = 20_000;

/** The faults of a run, in the order of their beginnings. They end by themselves, at the latest at `lengthMs`. */
export function scheduleOf(chance: Chance, lengthMs: number): Fault[] {
  const faults: Fault[] = [];
  let temporalAt = -temporalRestsMs / 2;
  for (let atMs = chance.between(500, longestPauseMs); atMs < lengthMs; atMs += chance.between(200, longestPauseMs)) {
    const fault = faultAt(chance, atMs);
    const isTemporal = fault.kind === 'kill' && fault.part === 'temporal';
    if (isTemporal && atMs - temporalAt < temporalRestsMs) continue;
    if (isTemporal) temporalAt = atMs;
    faults.push({ ...fault, forMs: Math.min(fault.forMs, lengthMs - atMs) });
  }
  return faults;
}

const makers: readonly ((chance: Chance, atMs: number) => Fault)[] = [
  killed,
  killed,
  frozen,
  wayBroken,
  wayBroken,
  wayBroken,
  serviceFails,
  serviceFails,
  serviceFails,
  webhooksFail,
  webhooksFail,
  receiverFails,
];

function faultAt(chance: Chance, atMs: number): Fault {
  return chance.oneOf(makers)(chance, atMs);
}

function killed(chance: Chance, atMs: number): Fault {
  return { kind: 'kill', part: chance.oneOf(parts), atMs, forMs: chance.between(100, 3_000) };
}

/** A frozen Temporal stands for a database of its that does not answer. */
function frozen(chance: Chance, atMs: number): Fault {
  return { kind: 'freeze', part: chance.oneOf(parts), atMs, forMs: chance.between(500, 8_000) };
}

function wayBroken(chance: Chance, atMs: number): Fault {
  return {
    kind: 'way',
    way: chance.oneOf(ways),
    does: chance.oneOf(wayFaults),
    atMs,
    forMs: chance.between(300, 6_000),
  };
}

function serviceFails(chance: Chance, atMs: number): Fault {
  const phase = chance.oneOf(['before_work', 'after_work'] as const);
  const action = chance.oneOf([
    { kind: 'answer', status: 500, body: { detail: 'invented: an error of the service' }, phase },
    { kind: 'answer', status: 503, body: '<html>invented: a gateway that lost patience</html>', phase },
    { kind: 'answer', status: 429, body: { detail: 'invented: too many' }, headers: { 'retry-after': '1' } },
    { kind: 'answer', status: 200, body: 'invented: this is not JSON', phase },
    { kind: 'delay', delayMs: 1_500, phase },
    { kind: 'drop_response' },
    { kind: 'refuse' },
  ] as const);
  const fault = { path: chance.oneOf(workerPaths), times: chance.between(1, 4), action };
  return { kind: 'service', fault, atMs, forMs: chance.between(2_000, 8_000) };
}

function webhooksFail(chance: Chance, atMs: number): Fault {
  const action = chance.oneOf([
    { kind: 'lose' },
    { kind: 'lose' },
    { kind: 'duplicate', copies: 2, sameId: false },
    { kind: 'duplicate', copies: 1, sameId: true },
    { kind: 'hold' },
    { kind: 'reorder', count: 3 },
    { kind: 'corrupt', attempts: 2 },
    { kind: 'delay', by: '1h' },
  ] as const);
  const losing = action.kind === 'lose' ? { event_type: chance.oneOf(losable) } : {};
  const fault = { ...losing, times: chance.between(1, 6), action };
  return { kind: 'webhooks', fault, atMs, forMs: chance.between(2_000, 8_000) };
}

function receiverFails(chance: Chance, atMs: number): Fault {
  return { kind: 'receiver', does: chance.oneOf(receiverFaults), atMs, forMs: chance.between(500, 6_000) };
}

/** One line of the printed schedule. */
export function describeFault(fault: Fault): string {
  const when = `${(fault.atMs / 1_000).toFixed(1).padStart(6)} s for ${(fault.forMs / 1_000).toFixed(1)} s`;
  switch (fault.kind) {
    case 'kill':
    case 'freeze':
      return `${when}: ${fault.kind} ${fault.part}`;
    case 'way':
      return `${when}: ${fault.way}: ${fault.does}`;
    case 'service':
    case 'webhooks':
      return `${when}: ${fault.kind}: ${JSON.stringify(fault.fault)}`;
    case 'receiver':
      return `${when}: the receiver ${fault.does}`;
  }
}
