import { DeadlinePassed } from '../temporal-errors.js';

/** The sender of a webhook waits, so nothing that it is handed to may take longer than a deadline. */

/** Rejects if the work takes longer; the work itself continues, and its result is ignored. */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DeadlinePassed(`No answer within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
