import { DefaultFailureConverter, type PayloadConverter, type ProtoFailure } from '@temporalio/common';
import { askAgain } from '../../protocol/failure-details.js';

/**
 * Puts a failure's message and stack trace into a payload, which the codec encrypts with the others. The one sentence that a
 * caller has to recognise stays readable: Temporal gives a refused query's message only. Loaded by its path: by the worker, and
 * into the workflow bundle (workers/bundle.ts), with what it imports.
 */
class EncodingFailureConverter extends DefaultFailureConverter {
  override errorToFailure(error: unknown, payloadConverter: PayloadConverter): ProtoFailure {
    const failure = super.errorToFailure(error, payloadConverter);
    if ((error as Partial<Error> | undefined)?.message === askAgain) failure.message = askAgain;
    return failure;
  }
}

export const failureConverter = new EncodingFailureConverter({ encodeCommonAttributes: true });
