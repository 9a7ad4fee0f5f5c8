/** The time of a call is up. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

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
