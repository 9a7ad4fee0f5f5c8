import { DefaultFailureConverter } from '@temporalio/common';

/**
 * Puts a failure's message and stack trace into a payload, which the codec encrypts with the others. Loaded by its path:
 * by the worker, and into the workflow bundle (workers/bundle.ts). It needs nothing but the SDK, because what it imports
 * is bundled too.
 */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
