import type { Client } from '@temporalio/client';
import type { Installation } from '../../service/installation.js';
import type { AbandonedCalls } from '../abandoned-calls.js';
import type { AnswerName } from './answers.js';
import type { HealthDataSink } from './health-data-events.js';
import type { RejectedEventSink } from './rejected-events.js';

/**
 * A memory of messages by keys of `<namespace>/<task queue>/<message id>/<digest of the body>`: handlers of several
 * deployments may share it. It is a hint: if it rejects or is slow, the message counts as new.
 */
export interface TakenMessages {
  has(key: string, withinSeconds: number): Promise<boolean>;
  add(key: string): Promise<void>;
}

/** A verified message. */
export interface Message {
  id: string;
  /** As it was sent. */
  body: string;
  /** The same, parsed. */
  value: object;
  /** The digest of its bytes; absent if no memory of messages is asked. */
  digest?: string;
}

export interface Destinations {
  temporal: Client;
  taskQueue: string;
  /** Says which orders are ours. */
  installation: Installation;
  healthData: HealthDataSink | undefined;
  rejected: RejectedEventSink | undefined;
  taken?: TakenMessages | undefined;
  /** Events of other teams are let go. Without it every team's are taken. */
  teamId?: string | undefined;
  /** How long Temporal or the sink may take, in milliseconds. */
  deadlineMs: number;
  /** The signals, which may still be under way after that. */
  abandoned: AbandonedCalls;
}

/** The result of an event, with what may be logged about it: ids and types, nothing personal. */
export interface Routed {
  name: AnswerName;
  /** A second result, which is counted too. */
  also?: AnswerName;
  orderId?: string;
  jobId?: string;
  workflowId?: string;
  problem?: string;
  error?: unknown;
  /** True if the event names our own team. */
  isOwnTeam?: boolean;
}
