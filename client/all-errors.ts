/* Every error that a backend can get, by area: the namespace `errors` of the package. */

export { LabOperationsError, type ErrorKind, type RefusedField } from '../service/lab-operations-error.js';
export {
  CallTooLarge,
  EncryptionKeysMissing,
  EncryptionRequired,
  NoWorker,
  PlacingStopped,
  ReadInvalid,
  ServiceAccessDenied,
  ServiceDown,
  ServiceNotConfigured,
  TemporalRefused,
  TemporalUnreachable,
  TimedOut,
  UnexpectedFailure,
  WorkerFailing,
} from './errors.js';
export {
  AlreadyResolved,
  AmbiguousOrder,
  CancelRefused,
  NothingToAcknowledge,
  AlarmOutdated,
  NothingToResolve,
  NotReplaceable,
  PlacingCancelled,
  OrderMovedOn,
  OrderEnded,
  OrderInterrupted,
  OrderInvalid,
  OrderNotFound,
  OrderNotInChain,
  OrderRefused,
  OrderTaken,
  PhysicianRequired,
  ReferenceConflict,
  RegisteredAnotherOrder,
  RegistrationRefused,
  ReplacementLimitReached,
} from './order/errors.js';
export {
  AddressMissing,
  AppointmentEnded,
  AppointmentExists,
  AppointmentInterrupted,
  AppointmentInvalid,
  AppointmentNotFound,
  AvailabilityRefused,
  BookingRefused,
  CancellationRefused,
  NothingBooked,
  RescheduleRefused,
  SlotGone,
} from './appointment/errors.js';
export {
  DecisionNotAllowed,
  DecisionRefused,
  MatchReviewEnded,
  MatchReviewInterrupted,
  MatchReviewInvalid,
  MatchReviewNotFound,
} from './match-review/errors.js';
export {
  InvalidCode,
  LinkEnded,
  LinkFailed,
  LinkInterrupted,
  LinkInvalid,
  LinkNotFound,
  LinkRefused,
} from './link/errors.js';
export {
  ReportEnded,
  ReportFileRefused,
  ReportInterrupted,
  ReportInvalid,
  ReportNotFound,
  ReportNotRead,
  ReportReferenceConflict,
  ReportRefused,
  ReportSubmissionCancelled,
  ReportSubmissionExpired,
  SignedUrlRefused,
} from './report/errors.js';
export {
  DeletionInterrupted,
  DeletionInvalid,
  DeletionNotFound,
  DeletionRefused,
  GraceEnded,
  GraceNotBegun,
  NothingToUndo,
  ReceiptInvalid,
  ReceiptMissing,
  UndoRefused,
  UserHasRunningWork,
  UserUnknown,
} from './user/errors.js';
export { DeliveryInterrupted, NotificationNotFound, NotificationsInvalid } from './notifications/errors.js';
export {
  ManagementKeyMissing,
  ManagementKeyRefused,
  OperatorCallInterrupted,
  OperatorCallInvalid,
  RejectedEventNotFound,
  RejectedEventSettled,
  StoreNotConfigured,
  NotificationsNotConfigured,
  StoreUnavailable,
  WebhookNotFound,
  WebhookRefused,
} from './operators/errors.js';
export { ActorInvalid, EncryptionSettingInvalid, InstallationInvalid, TemporalSettingInvalid } from './config.js';
export { KeyRingInvalid } from './encryption/key-ring.js';
export { EncryptionKeyUnknown, PayloadMisplaced, PayloadNotAuthentic } from './encryption/payload-codec.js';
export { WebhookSecretInvalid } from '../service/webhooks/signature.js';
export { ProxyInvalid } from '../service/http/proxy.config.js';
export {
  AnswerLost,
  AnswerUnreadable,
  FeatureNotEnabled,
  NotFound,
  RequestInvalid,
  ServiceError,
  ServiceRefused,
  ServiceUnavailable,
  ServiceUnreachable,
  TooManyRequests,
  Unauthorized,
  SlotUnavailable,
  BookingKeyExpired,
} from '../service/errors.js';
