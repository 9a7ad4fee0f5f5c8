import { type CallFacts, RequestInvalid, ServiceError } from '../errors.js';

/** A call that was sent, or should have been, and has ended. Nothing personal: the path is the template. */
export interface ObservedCall extends Pick<CallFacts, 'method' | 'path'> {
  /**
   * The HTTP status; without an answer the name of the error (`ServiceUnreachable`, `AnswerLost`, `AnswerUnreadable`), or `aborted`
   * if the caller gave it up.
   */
  result: number | string;
  /** The wait for a free connection included. */
  milliseconds: number;
}

export type CallObserver = (call: ObservedCall) => void;

/** Reports the call when it has ended, and leaves its outcome as it is. One that breaks a rule was never sent, and is not reported. */
export async function observed<Answer extends { status: number }>(
  { method, path }: CallFacts,
  observe: CallObserver | undefined,
  send: () => Promise<Answer>,
): Promise<Answer> {
  if (!observe) return send();
  const started = performance.now();
  const report = (result: number | string) =>
    observe({ method, path, result, milliseconds: performance.now() - started });
  try {
    const answer = await send();
    report(answer.status);
    return answer;
  } catch (error) {
    if (!(error instanceof RequestInvalid)) report(error instanceof ServiceError ? error.name : 'aborted');
    throw error;
  }
}
