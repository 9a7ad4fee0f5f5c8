/** Keeps its worker busy in one step for a second or more. */
export async function busy(): Promise<number> {
  // Temporal's own log waits for the end of the step.
  // oxlint-disable-next-line no-console
  console.log('a step has begun');
  let sum = 0;
  for (let count = 0; count < 200_000_000; count += 1) sum = (sum + count) % 1_000_003;
  return sum;
}
