import type { AppointmentState, Slots } from '../../protocol/appointment/messages.js';
import type { DeletionReceipt, DeletionState } from '../../protocol/deletion/messages.js';
import type { CodeAnswer, LinkState, LinkUrl } from '../../protocol/link/messages.js';
import type { MatchReviewState } from '../../protocol/match-review/messages.js';
import type { DeliveryState } from '../../protocol/notifications/delivery.js';
import type { ReplayNotificationsResult } from '../../protocol/operators/notification-replay.js';
import type { RejectedEventsPage, ReplayRejectedEventsResult } from '../../protocol/operators/rejected-events.js';
import type * as webhooks from '../../protocol/operators/webhook-endpoints.js';
import type { PlacingState } from '../../protocol/order/placing-messages.js';
import type { OrderState } from '../../protocol/order/state.js';
import type { ReconcileResult } from '../../protocol/reconcile.js';
import type { ReportState } from '../../protocol/report/messages.js';
import type { AppointmentSummary } from '../appointment/appointments.js';
import type { KeyUse } from '../encryption/key-use.js';
import type { LinkSummary } from '../link/links.js';
import type { MatchReviewSummary } from '../match-review/match-reviews.js';
import type { UndeliveredSummary } from '../notifications/undelivered.js';
import type { PlacingSwitch } from '../operators/placing-stop.js';
import type { AdoptedOrder, AdoptOrder } from '../order/adopting.js';
import type { CancelledPlacing } from '../order/order-handle.js';
import type { OrderSummary, PolicyChanged, PolicyNotChanged } from '../order/orders.js';
import type { CancelledSubmission } from '../report/report-handle.js';
import type { ReportSummary } from '../report/reports.js';
import type { ExportedWork } from '../user/export.js';
import type { FailureReport } from './failures.js';

type Of<Area extends string, Commands extends string, State> = Record<`${Area} ${Commands}`, State>;

type List<What extends string, Summary> = Record<What, Summary[]> & { next?: string };

/** The orders that were changed, and the others with the reason. */
interface Changed<Order, Unchanged> {
  orders: Order[];
  failed: (Unchanged & { error: FailureReport })[];
  dryRun: boolean;
}

/** `unneeded`: to come, or of the past; `missing`: histories need it, and it is not set here. */
export type Standing = 'encrypts' | 'needed' | 'unneeded' | 'missing';

interface Finding {
  check: string;
  status: 'ok' | 'not_checked' | 'warning' | 'fault';
  found: string;
  remedy?: string;
}

/** The open workflows of a type. */
export interface Replayed {
  workflowType: string;
  replayed: number;
  /** Those that this build would not continue. */
  differing: { workflowId: string; reason: string }[];
}

/** A fault in the chain of a writer, from the row `sequence` to the row `upTo`. */
interface AuditFault {
  fault: 'missing' | 'not_authentic' | 'key_missing';
  writer: string;
  sequence: number;
  upTo?: number;
}

/** A row of the audit trail. */
export interface AuditedRow {
  writer: string;
  /** From 1 in the chain of each writer, without a gap. */
  sequence: number;
  /** ISO 8601 in UTC, to the microsecond. */
  at: string;
  actor: string | null;
  action: string;
  /** Keyed hashes. */
  subjects: string[];
  outcome: string;
  details: Record<string, unknown>;
  event: string | null;
  keyId: string;
  previous: string;
  hash: string;
}

export interface Verified {
  rows: number;
  writers: number;
  intact: boolean;
  faults: AuditFault[];
  /** With `--histories`: the commands that histories have, and how many of them were missing. */
  histories?: { found: number; added: number };
}

interface Provider {
  /** `--provider` of `labops links`. */
  slug: string;
  name?: string;
  authType?: string;
  /** The health data that it has. */
  resources: string[];
}

interface Site {
  /** `--site` of `labops appointments slots`, if it takes appointments. */
  code?: string;
  name?: string;
  address: string;
  /** Miles. */
  distance?: number;
  bookable: boolean;
}

/** The JSON of each command: `watch`, `users export` and `audit export` print a line for each of many. */
export type Answers = Record<'orders list', List<'orders', OrderSummary>> &
  Record<'orders place', { reference: string; orderId?: string }> &
  Record<'orders adopt', Changed<AdoptedOrder, AdoptOrder>> &
  Record<'orders set-policy', Changed<PolicyChanged, Omit<PolicyNotChanged, 'error'>>> &
  Record<'orders open', { address: string }> &
  Record<'orders reconcile', ReconcileResult> &
  Of<'orders', 'show' | 'watch', OrderState | PlacingState> &
  Of<'orders', 'register' | 'resolve-problem' | 'replace-kit' | 'acknowledge-critical-result', OrderState> &
  Record<'orders cancel', OrderState | CancelledPlacing> &
  Record<'links list', List<'links', LinkSummary>> &
  Record<'links url', LinkUrl> &
  Record<'links submit-mfa-code', CodeAnswer> &
  Of<'links', 'start' | 'show' | 'watch' | 'report-link-result' | 'cancel', LinkState> &
  Record<'reports list', List<'reports', ReportSummary>> &
  Record<'reports submit', { reference: string; jobId?: string }> &
  Of<'reports', 'show' | 'watch', ReportState> &
  Record<'reports cancel', ReportState | CancelledSubmission> &
  Of<'users', 'request-deletion' | 'show' | 'undo', DeletionState> &
  Record<'users receipt', { receipt: string }> &
  Record<'users verify-receipt', DeletionReceipt> &
  Record<'users export', ExportedWork | { kind: string }> &
  Record<'appointments list', List<'appointments', AppointmentSummary>> &
  Record<'appointments slots', Slots> &
  Of<'appointments', 'start' | 'choose' | 'request' | 'reschedule' | 'cancel' | 'show' | 'watch', AppointmentState> &
  Record<'match-reviews list', List<'reviews', MatchReviewSummary>> &
  Of<'match-reviews', 'start' | 'accept' | 'reject' | 'mark-unsure' | 'show' | 'watch', MatchReviewState> &
  Record<'notifications list', List<'workflows', UndeliveredSummary>> &
  Record<'notifications replay', ReplayNotificationsResult> &
  Of<'notifications', 'show' | 'resend' | 'discard', DeliveryState> &
  Of<'placing', 'stop' | 'resume' | 'show', PlacingSwitch> &
  Record<'webhooks list', { endpoints: webhooks.WebhookEndpoint[] }> &
  Of<'webhooks', 'show' | 'update' | 'enable', webhooks.WebhookEndpoint> &
  Record<'webhooks register', Secret<webhooks.WebhookRegistered>> &
  Record<'webhooks read-headers', webhooks.WebhookHeadersRead> &
  Record<'webhooks set-headers', webhooks.WebhookHeadersSet> &
  Record<'webhooks rotate', Secret<webhooks.WebhookSecretRotated>> &
  Record<'webhooks delete', webhooks.WebhookDeleted> &
  Record<'rejected-events list', RejectedEventsPage> &
  Record<'rejected-events replay', ReplayRejectedEventsResult> &
  Record<'rejected-events discard', { id: string; state: 'discarded' }> &
  Record<'keys status', { keys: (KeyUse & { standing: Standing })[]; runs: number }> &
  Record<'doctor', { faults: number; warnings: number; findings: Finding[] }> &
  Record<'service providers', { providers: Provider[] }> &
  Record<'service sites', { lab?: string; sites: Site[] }> &
  Record<'service resend', { orderIds: string[] }> &
  Record<'replay', { workflows: Replayed[] }> &
  Record<'migrate', { applied: string[]; roles: string[] }> &
  Record<'audit list', { rows: AuditedRow[] }> &
  Record<'audit export', AuditedRow | { resourceType: 'AuditEvent' }> &
  Record<'audit import', { found: number; added: number }> &
  Record<'audit verify', Verified> &
  Record<'audit heads', { heads: string }> &
  Record<'audit remove', Verified & { removed?: number; before?: string }>;

/** Only with `--show-secret`. */
type Secret<Answer> = Omit<Answer, 'secret'> & { secret?: string };

export type Answer = Answers[keyof Answers];

/** The answer of a command that fails, on standard error. */
export interface Failed {
  error: FailureReport & { stack?: string };
}
