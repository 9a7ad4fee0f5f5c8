import type { temporal } from '@temporalio/proto';

type ProtoFailure = temporal.api.failure.v1.IFailure;

/** What an activity fails with: the type of an `ApplicationFailure`, and its details. */
export interface Failure {
  type: string;
  details?: object;
  /** No later attempt would change it; absent is true. */
  isFinal?: boolean;
}

/** A payload of the model: the value as text. What JSON cannot write is lost here as it is in a history. */
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

/** The failure of an activity that was not retried any more. */
export function failureOf(activity: string, { type, details = { fields: [] }, isFinal = true }: Failure): ProtoFailure {
  return {
    message: 'Activity task failed',
    activityFailureInfo: { activityType: { name: activity }, activityId: '1' },
    cause: {
      message: type,
      applicationFailureInfo: {
        type,
        nonRetryable: isFinal,
        details: { payloads: [asJson.toPayload(details) as never] },
      },
    },
  };
}

export function typeOfFailure({ applicationFailureInfo, cause, message }: ProtoFailure): string {
  return applicationFailureInfo?.type ?? (cause ? typeOfFailure(cause) : (message ?? 'unknown'));
}
