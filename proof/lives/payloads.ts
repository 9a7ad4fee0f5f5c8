import type { temporal } from '@temporalio/proto';

type ProtoFailure = temporal.api.failure.v1.IFailure;

/** The failure of an activity: the type of an `ApplicationFailure`, and its details; or why it has not answered by itself. */
export type Failure =
  | {
      type: string;
      details?: object;
      /** No later attempt would change it; absent is true. */
      isFinal?: boolean;
    }
  /** No worker began it in time, its worker was lost, its time or that of an attempt was over, or its workflow called it back. */
  | { type?: never; ended: keyof typeof endings; after?: Failure };

/** A payload: the value as text. What JSON cannot write is lost here as it is in a history. */
export interface JsonPayload {
  text?: string;
}

/** Stands in for the payload converter of the SDK, which writes bytes. */
export const asJson = {
  toPayload: (value: unknown): JsonPayload => (value === undefined ? {} : { text: JSON.stringify(value) }),
  fromPayload: (payload: JsonPayload): unknown => fromPayload(payload),
};

export function fromPayload(payload: JsonPayload | undefined): unknown {
  return payload?.text === undefined ? undefined : JSON.parse(payload.text);
}

/** The failure of an activity that is not retried any more. */
export function failureOf(activity: string, failure: Failure): ProtoFailure {
  const cause = failure.type === undefined ? endingOf(failure) : causeOf(failure);
  return {
    message: 'Activity task failed',
    activityFailureInfo: { activityType: { name: activity }, activityId: '1' },
    cause,
  };
}

/** If the time is over, the failure of the last attempt is the cause. */
function endingOf({ ended, after }: Extract<Failure, { ended: unknown }>): ProtoFailure {
  const cause = after && (after.type === undefined ? endingOf(after) : causeOf(after));
  return { message: ended, ...endings[ended], ...(cause && { cause }) };
}

/** As `TimeoutType` numbers them. */
const endings = {
  too_long: { timeoutFailureInfo: { timeoutType: 1 } },
  out_of_time: { timeoutFailureInfo: { timeoutType: 3 } },
  not_started: { timeoutFailureInfo: { timeoutType: 2 } },
  worker_lost: { timeoutFailureInfo: { timeoutType: 4 } },
  called_back: { canceledFailureInfo: {} },
};

function causeOf({ type, details = { fields: [] }, isFinal = true }: Extract<Failure, { type: string }>): ProtoFailure {
  const payloads = [asJson.toPayload(details) as never];
  return { message: type, applicationFailureInfo: { type, nonRetryable: isFinal, details: { payloads } } };
}

export function typeOfFailure({ applicationFailureInfo, cause, message }: ProtoFailure): string {
  return applicationFailureInfo?.type ?? (cause ? typeOfFailure(cause) : (message ?? 'unknown'));
}

/** The first details of an `ApplicationFailure`. */
export function detailsOf({ applicationFailureInfo }: ProtoFailure): unknown {
  return fromPayload(applicationFailureInfo?.details?.payloads?.[0] as JsonPayload | undefined);
}
