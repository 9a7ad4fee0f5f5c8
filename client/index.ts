/** What a product backend imports. */
export { LabOperations, type LabOperationsOptions } from './lab-operations.js';
export type { OrderFilter, OrderOperations, WhichHandle } from './orders/orders.js';
export type { OrderSummary } from './orders/order-list.js';
export type { KitOrderHandle, WhichOrder } from './orders/order-handle.js';
export type { ReportOperations, ReportSubmission } from './reports/reports.js';
export type { ReportHandle } from './reports/report-handle.js';
export type { WatchOptions } from './watching.js';
export {
  FeatureNotEnabled,
  LabOperationsError,
  ServiceAccessDenied,
  ServiceDown,
  ServiceNotConfigured,
  type RefusedField,
} from './errors.js';
export {
  AmbiguousOrder,
  CancelRefused,
  NothingToResolve,
  NotReplaceable,
  OrderEnded,
  OrderInterrupted,
  OrderInvalid,
  OrderNotFound,
  OrderNotInChain,
  OrderRefused,
  PhysicianRequired,
  ReferenceConflict,
  RegisteredAnotherOrder,
  RegistrationRefused,
  ReplacementLimitReached,
} from './orders/errors.js';
export {
  ReportEnded,
  ReportFileRefused,
  ReportInterrupted,
  ReportInvalid,
  ReportNotFound,
  ReportNotRead,
  ReportReferenceConflict,
  ReportRefused,
  SignedUrlRefused,
} from './reports/errors.js';
export {
  createWebhookHandler,
  type WebhookHandler,
  type WebhookHandlerOptions,
  type WebhookLogger,
  type WebhookRequest,
} from './webhooks/handler.js';
export type { HealthDataSink } from './webhooks/route.js';
export { sign, verify } from '../service/webhook-signature.js';
export { signWebhook } from './webhooks/sign.js';
export { createLabService, type LabService } from '../service/lab-service.js';
export type { ServiceConfig } from '../service/http.js';
export {
  AnswerLost,
  AnswerUnreadable,
  NotFound,
  RequestInvalid,
  ServiceError,
  ServiceRefused,
  ServiceUnavailable,
  ServiceUnreachable,
  TooManyRequests,
  Unauthorized,
} from '../service/errors.js';
export type { Results } from '../service/results.js';
export type { Order, OrderRequest, RegisterRequest, ShippingDetails, TestkitOrderRequest } from '../service/orders.js';
export type { LabReportResult, LoincMatch } from '../service/reports.js';
export type { ReportCounts } from '../service/report-snapshot.js';
export { defaultReportPolicy, type ReportPolicy } from '../workflows/report/policy.js';
export type { ReportFailure } from '../workflows/report/failure-reasons.js';
export type {
  ParsingJobResult,
  ReportAttention,
  ReportAttentionReason,
  ReportOutcome,
  ReportPhase,
  ReportSource,
  ReportState,
  ReportTimelineEntry,
} from '../workflows/report/messages.js';
export { defaultPolicy, type OrderPolicy, type Remedy } from '../workflows/order/policy.js';
export type { Duration } from '../workflows/policy-settings.js';
export type {
  Attention,
  AttentionReason,
  ChainLink,
  KitOrderResult,
  OrderOutcome,
  OrderPhase,
  OrderState,
  PlaceKitOrderInput,
  TimelineEntry,
} from '../workflows/order/messages.js';
