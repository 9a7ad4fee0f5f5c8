/** The exports for a product backend. */
import * as errors from './all-errors.js';

export { errors };

/* The client, and what all areas share */
export { reconnection } from './temporal-connection.js';
export { LabOperations, type ConnectOptions, type LabOperationsOptions } from './lab-operations.js';
export type { OnRead, ReadRecord } from '../service/reads.js';
export type { NotificationSource, WatchOptions } from './watching.js';
export type { CallOptions, Deadline } from './call-options.js';
export type { ListOptions } from './workflow-list.js';
export type { Encryption } from './config.js';
export type { Installation } from '../service/installation.js';
export { labDataConverter, createPayloadCodec, type PayloadCodecOptions } from './encryption/payload-codec.js';
export { parseKeyRing, type EncryptionKey, type KeyRing } from './encryption/key-ring.js';
export { followKeys, type KeyObserver, type LiveKeys } from './encryption/live-keys.js';
export type { NotificationOperations, UndeliveredSummary } from './notifications/undelivered.js';
export type { DeliveryState, UndeliveredNotification } from '../protocol/notifications/delivery.js';
export type { BusinessDays } from '../protocol/business-days.js';
export type { Duration } from '../protocol/time.js';
export type { Attention } from '../protocol/attention.js';

/* Orders */
export type {
  OrderOperations,
  OrderSelection,
  PolicyChange,
  PolicyChanged,
  PolicyNotChanged,
  SetPolicyOptions,
  WhichHandle,
  OrderFilter,
  OrderSummary,
  AdoptOptions,
} from './order/orders.js';
export type { AdoptedOrder, AdoptOrder } from './order/adopting.js';
export type { EarlierFailure, ReconcileOptions } from './order/reconciliation.js';
export type { PlaceOptions } from './order/placing.js';
export type { OrderSearch } from '../service/order/orders.js';
export type { CancelledPlacing, OrderHandle, WhichOrder } from './order/order-handle.js';
export { answerFaults } from '../service/order/answers.js';
export type {
  ImportOrderRequest,
  Order,
  OrderRequest,
  RegisterRequest,
  ShippingDetails,
  TestkitOrderRequest,
} from '../service/order/orders.js';
export { defaultPolicy, type OrderPolicy, type Remedy } from '../protocol/order/policy.js';
export type { ReconcileCounts, ReconcileProgress, ReconcileResult } from '../protocol/reconcile.js';
export type { KitOrderResult } from '../protocol/order/messages.js';
export type { PlacingAttentionReason, PlacingState, PlaceKitOrderInput } from '../protocol/order/placing-messages.js';
export type {
  AttentionReason,
  ChainLink,
  OrderAttention,
  OrderOutcome,
  OrderPhase,
  OrderState,
  TimelineEntry,
} from '../protocol/order/state.js';
export type { ShipmentSnapshot } from '../service/order/snapshot.js';

/* Results, documents and the catalogue */
export type { ResultOperations, WhichResults } from './results.js';
export type { DocumentOperations, DocumentReads, DocumentStreamOptions, SpecimenLabels } from './documents.js';
export type { CatalogueOperations } from './catalogue.js';
export type { Results } from '../service/order/order.js';
export type {
  LabAccount,
  LabAccountFilter,
  LabTest,
  LabTestFilter,
  Marker,
  MarkerFilter,
} from '../service/lab-tests.js';

/* Appointments */
export type {
  AppointmentOperations,
  AppointmentStart,
  AppointmentFilter,
  AppointmentSummary,
} from './appointment/appointments.js';
export type { AppointmentHandle } from './appointment/appointment-handle.js';
export type { CancellationReason } from '../service/appointment/appointments.js';
export { isBookable, type Centre, type Centres, type Coverage } from '../service/appointment/centres.js';
export type { CentresFilter, CoverageFilter, SitesOfOrder } from '../service/appointment/walk-ins.js';
export { defaultAppointmentPolicy, type AppointmentPolicy } from '../protocol/appointment/policy.js';
export type {
  AppointmentAttentionReason,
  AppointmentCancellation,
  AppointmentOutcome,
  AppointmentPhase,
  AppointmentResult,
  AppointmentShown,
  AppointmentState,
  AppointmentRequest,
  Slot,
  SlotChoice,
  SlotQuestion,
  SlotSite,
  Slots,
} from '../protocol/appointment/messages.js';

/* Match reviews */
export type {
  MatchReviewFollowed,
  MatchReviewOperations,
  WhichMatchReview,
  MatchReviewFilter,
  MatchReviewSummary,
} from './match-review/match-reviews.js';
export type { MatchReviewHandle } from './match-review/match-review-handle.js';
export type { MatchReview, MatchReviewSearch } from '../service/match-review/match-reviews.js';
export { defaultMatchReviewPolicy, type MatchReviewPolicy } from '../protocol/match-review/policy.js';
export type {
  Acceptance,
  MatchReviewAction,
  MatchReviewAttentionReason,
  MatchReviewDecision,
  MatchReviewOutcome,
  MatchReviewPhase,
  MatchReviewResult,
  MatchReviewState,
  Rejection,
} from '../protocol/match-review/messages.js';

/* Links */
export type { LinkOperations, LinkStart, LinkFilter, LinkSummary } from './link/links.js';
export type { LinkHandle } from './link/link-handle.js';
export type { Provider, ProviderConnection, ProviderFilter } from '../service/link/providers.js';
export { defaultLinkPolicy, type LinkPolicy } from '../protocol/link/policy.js';
export type {
  CodeAnswer,
  Consequence,
  LinkAttentionReason,
  LinkOutcome,
  LinkPhase,
  LinkResult,
  LinkState,
  LinkUrl,
} from '../protocol/link/messages.js';
export type { LinkReport } from '../protocol/link/link-report.js';

/* Reports */
export type { ReportOperations, ReportSubmission, ReportFilter, ReportSummary } from './report/reports.js';
export type { CancelledSubmission, ReportHandle } from './report/report-handle.js';
export type { LabReportResult, LoincMatch, ParsingJob } from '../service/report/reports.js';
export type { ReportCounts } from '../service/report/snapshot.js';
export { defaultReportPolicy, type ReportPolicy } from '../protocol/report/policy.js';
export type { ReportFailure } from '../protocol/report/messages.js';
export type {
  ParsingJobResult,
  ReportAttentionReason,
  ReportOutcome,
  ReportPhase,
  ReportState,
  ReportTimelineEntry,
} from '../protocol/report/messages.js';
export type { LostUpload, ReportSource } from '../protocol/report/submission-messages.js';

/* Users and their deletion */
export type { UserOperations } from './user/users.js';
export type { ExportedWork } from './user/export.js';
export type { DeletionHandle } from './user/deletion-handle.js';
export { verifyReceipt } from './user/receipt.js';
export type { DeletionReceipt } from '../protocol/deletion/messages.js';
export type {
  CreateUserRequest,
  Demographics,
  DemographicsRequest,
  UpdateUserRequest,
  User,
  UserListOptions,
} from '../service/users.js';
export type { PortalUrl, PortalUrlRequest } from '../service/users.js';
export { defaultDeletionPolicy, type DeletionPolicy, type OnRunningWork } from '../protocol/deletion/policy.js';
export type {
  DeleteUserInput,
  DeleteUserResult,
  DeletionAttentionReason,
  DeletionOutcome,
  DeletionPhase,
  DeletionState,
  FoundWork,
  RunningWork,
  UndoReport,
} from '../protocol/deletion/messages.js';

/* The stop of placing */
export type { PlacingOperations, PlacingSwitch } from './operators/placing-stop.js';
export type { PlacingStop, StopPlacingInput } from '../protocol/placing-stop.js';

/* Webhook endpoints and rejected events */
export type { RejectedEventOperations } from './operators/rejected-events.js';
export type {
  ListedRejectedEvents,
  RejectedEventEntry,
  RejectedEventFilter,
  RejectedEventState,
  ReplayRejectedEventsResult,
} from '../protocol/operators/rejected-events.js';
export type { WebhookOperations } from './operators/webhook-endpoints.js';
export type {
  WebhookChange,
  WebhookDeleted,
  WebhookEndpoint,
  WebhookHeadersRead,
  WebhookHeadersSet,
  WebhookRegistered,
  WebhookSecretRotated,
} from '../protocol/operators/webhook-endpoints.js';
export type { WebhookPlace } from '../service/management/webhooks.js';

/* Calls of the lab service without a workflow in between */
export { createLabService, type LabService } from '../service/lab-service.js';
export type { ServiceDescription } from '../service/description.js';
export type { ServiceConfig } from '../service/http/http.js';
export type { CallObserver, ObservedCall } from '../service/http/http.js';
