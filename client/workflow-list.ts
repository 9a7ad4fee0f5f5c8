import { createHash } from 'node:crypto';
import type { Client, WorkflowClient, WorkflowExecutionInfo } from '@temporalio/client';
import {
  withoutMemos,
  labAttentionKey,
  labPhaseKey,
  labReferenceKey,
  labUserIdKey,
  reportedProblemsKey,
} from '../protocol/search-attributes.js';
import { isAddressable } from '../protocol/ids.js';
import { canonicalId } from '../service/canonical-id.js';
import { isObject } from '../service/json-object.js';
import type { CallOptions } from './call-options.js';
import type { RefusalClass } from './errors.js';
import { describe } from './workflow-runs.js';

/* Lists by search attributes: no workflow is woken. They lag by moments. */

/** The conditions of a list, at least one of them but `ended`; a result must meet all that are given. */
export interface WorkflowFilter<Phase extends string, Reason extends string> {
  /** Everybody's work, which must be requested explicitly. Only `ended` is allowed beside it. */
  all?: true;
  phase?: Phase;
  /** `true`: those that ask for attention for any reason, and those that cannot go on. */
  attention?: true | Reason;
  userId?: string;
  /** Also those that have ended, as long as the namespace retains them. Default false. */
  ended?: boolean;
}

/** The fields of a line in every list. */
export interface WorkflowSummary<Phase extends string, Reason extends string> {
  userId?: string;
  phase?: Phase;
  /** `worker_failing`: its workflow tasks fail again and again, so it cannot go on. Only Temporal knows. */
  attention: (Reason | 'worker_failing')[];
  startedAt: Date;
  endedAt?: Date;
}

export interface ListOptions extends CallOptions {
  /** Only a part of the list. */
  page?: {
    /** The most, at least 1; only the last page has fewer. */
    limit: number;
    /** The token that `onNext` got from the page before, of the same filter. What starts or ends between two pages may be missed. */
    after?: string;
    /** Gets the token of the next page, which may be empty; not called if there is none. */
    onNext: (after: string) => void;
  };
}

/** The list of one area. */
interface ListedArea<Own extends object> {
  /** The condition that selects its workflows. */
  workflows: string;
  /** The phase that is only listed if it is asked for. */
  hidden?: string;
  /** The type whose id is used again after a failure: an earlier run says nothing of the later ones. */
  repeated?: string;
  /** The error for a filter that is not valid. */
  invalid: RefusalClass;
  /** The fields that a line has of its own. */
  own: (execution: WorkflowExecutionInfo) => Own;
}

/** Each workflow once, by its latest run: the same id may be started again after its end. */
export async function* listWorkflows<Phase extends string, Reason extends string, Own extends object>(
  temporal: Client,
  area: ListedArea<Own>,
  filter: WorkflowFilter<Phase, Reason>,
  { page }: ListOptions,
): AsyncGenerator<Own & WorkflowSummary<Phase, Reason>, void, undefined> {
  const listed = new Set<string>();
  // Temporal lists the running ones first, then the others by their ends, the latest first.
  const query = queryOf(area, filter);
  const part = { query, left: page?.limit ?? Infinity, next: page?.after };
  const workflows = page ? fromPage(temporal.workflow, area, page, part) : temporal.workflow;
  for await (const execution of withoutMemos(workflows).list({ query })) {
    if (listed.has(execution.workflowId)) continue;
    listed.add(execution.workflowId);
    // A later run may have been on an earlier page.
    const isKnownLatest = page?.after === undefined && mayBeLatest(execution, area, filter);
    if (execution.closeTime && !isKnownLatest && !(await isLatest(temporal, execution))) continue;
    yield { ...area.own(execution), ...summaryOf<Phase, Reason>(execution) };
    part.left -= 1;
    if (part.left === 0) break;
  }
  if (part.next !== undefined) page?.onNext(part.next);
}

/** Lines in one answer of Temporal: its own limit. */
const longestAnswer = 1_000;

/** The SDK follows Temporal's page tokens itself, and shows none: this client begins at one, asks for no more than is left, and keeps the last. */
function fromPage(
  workflow: WorkflowClient,
  { invalid }: ListedArea<object>,
  { limit, after }: NonNullable<ListOptions['page']>,
  part: { query: string; left: number; next: string | undefined },
): WorkflowClient {
  const { workflowService } = workflow;
  const refused = (field: string, message: string): Error =>
    new invalid(`The page is not valid: ${field} ${message}`, { fields: [{ field, message }] });
  if (!Number.isSafeInteger(limit) || limit < 1) throw refused('limit', 'must be a whole number above 0');
  if (after !== undefined && signed(part.query, temporalTokenIn(after)) !== after)
    throw refused('after', 'must be the token of a page before, of the same filter');
  const listWorkflowExecutions = async (request: Parameters<typeof workflowService.listWorkflowExecutions>[0]) => {
    const nextPageToken = temporalTokenIn(part.next ?? '');
    const asked = { ...request, pageSize: Math.min(part.left, longestAnswer), nextPageToken };
    const answer = await workflowService.listWorkflowExecutions(asked);
    part.next = answer.nextPageToken.length > 0 ? signed(part.query, answer.nextPageToken) : undefined;
    return answer;
  };
  const service: unknown = Object.create(workflowService, {
    listWorkflowExecutions: { value: listWorkflowExecutions },
  });
  return Object.create(workflow, { workflowService: { value: service } }) as WorkflowClient;
}

const signBytes = 4;

/**
 * Temporal's token, with a sign of its list in front. Of a token that it cannot read, Temporal says only that something is wrong, and
 * the SDK repeats such a call for twenty seconds.
 */
function signed(query: string, token: Uint8Array): string {
  const sign = createHash('sha256').update(query).update(token).digest().subarray(0, signBytes);
  return Buffer.concat([sign, token]).toString('base64url');
}

function temporalTokenIn(text: string): Uint8Array {
  return Buffer.from(text, 'base64url').subarray(signBytes);
}

/** The product's own key, if the workflow has one. */
export function referenceOf({ typedSearchAttributes: attributes }: WorkflowExecutionInfo): { reference?: string } {
  const reference = attributes.get(labReferenceKey);
  return reference === undefined ? {} : { reference };
}

function summaryOf<Phase extends string, Reason extends string>({
  typedSearchAttributes: attributes,
  startTime,
  closeTime,
}: WorkflowExecutionInfo): WorkflowSummary<Phase, Reason> {
  const userId = attributes.get(labUserIdKey);
  const phase = attributes.get(labPhaseKey);
  return {
    ...(userId !== undefined && { userId }),
    ...(phase !== undefined && { phase: phase as Phase }),
    attention: [
      ...((attributes.get(labAttentionKey) ?? []) as Reason[]),
      ...(attributes.get(reportedProblemsKey) === undefined ? [] : (['worker_failing'] as const)),
    ],
    startedAt: startTime,
    ...(closeTime && { endedAt: closeTime }),
  };
}

/** An earlier run keeps the phase and the attention that it ended with: by them it is found although a later one has moved on. */
function mayBeLatest(
  { type }: WorkflowExecutionInfo,
  { repeated }: ListedArea<object>,
  { phase, attention }: WorkflowFilter<string, string>,
): boolean {
  return type !== repeated && phase === undefined && attention === undefined;
}

async function isLatest(temporal: Client, { workflowId, runId }: WorkflowExecutionInfo): Promise<boolean> {
  return (await describe(temporal.workflow.getHandle(workflowId)))?.runId === runId;
}

const conditionNames: readonly string[] = [
  'all',
  'phase',
  'attention',
  'userId',
  'ended',
] satisfies (keyof WorkflowFilter<string, string>)[];

function queryOf({ workflows, hidden, invalid }: ListedArea<object>, filter: WorkflowFilter<string, string>): string {
  const refused = (field: string, message: string): Error =>
    new invalid(`The filter is not valid: ${field} ${message}`, { fields: [{ field, message }] });
  /** Nothing that goes into a query may end its quotes. */
  const quoted = (field: string, value: string): string => {
    if (isAddressable(value)) return value;
    throw refused(field, 'must be letters, digits, dots, hyphens or underscores');
  };
  // JavaScript lets through a variable that was never set, and a misnamed field. Neither must list everybody's work to one user.
  const given: unknown = filter;
  if (!isObject(given)) throw refused('filter', 'must be an object');
  for (const [field, value] of Object.entries(given)) {
    if (!conditionNames.includes(field)) throw refused(field, 'is not known here');
    if (value === undefined) throw refused(field, 'is undefined: leave it out to list without this condition');
  }
  const { all, phase, attention, userId, ended = false } = filter;
  const narrowing = [phase, attention, userId].filter((condition) => condition !== undefined);
  if (all === true ? narrowing.length > 0 : all !== undefined || narrowing.length === 0) {
    throw refused('filter', "must have userId, phase or attention, or { all: true } for everybody's work");
  }
  const conditions = [workflows];
  // A run that was continued is superseded by the next one.
  conditions.push(ended ? `ExecutionStatus != 'ContinuedAsNew'` : `ExecutionStatus = 'Running'`);
  if (phase !== undefined) conditions.push(`${labPhaseKey.name} = '${quoted('phase', phase)}'`);
  else if (hidden !== undefined) conditions.push(`${labPhaseKey.name} != '${hidden}'`);
  if (attention === true)
    conditions.push(`(${labAttentionKey.name} IS NOT NULL OR ${reportedProblemsKey.name} IS NOT NULL)`);
  else if (attention !== undefined) conditions.push(`${labAttentionKey.name} = '${quoted('attention', attention)}'`);
  if (userId !== undefined) conditions.push(`${labUserIdKey.name} = '${canonicalId(quoted('userId', userId))}'`);
  return conditions.join(' AND ');
}
