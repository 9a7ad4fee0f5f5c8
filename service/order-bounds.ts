import type { OrderEvent } from './order-snapshot.js';

/*
 * A service may report an order's tracking every few minutes. What is carried from run to run, and is in every answer, must not grow with
 * that. Pure: the workflow's fold uses it, too.
 */

const mostOfEach = 33;

/**
 * An order's events, if there are more than 99: of each kind at most 33, the first with each status, the newest that change
 * status or detail, and the newest of all.
 *
 * @param events ascending by id
 */
export function boundedEvents(events: readonly OrderEvent[]): OrderEvent[] {
  if (events.length <= 3 * mostOfEach) return [...events];
  const statuses = new Set<string>();
  const firsts = events.filter(({ status }) => !statuses.has(status) && statuses.add(status));
  const turns = events.filter(({ status, detail }, index) => {
    const before = events[index - 1];
    return status !== before?.status || detail !== before.detail;
  });
  const kept = new Set([firsts.slice(0, mostOfEach), turns.slice(-mostOfEach), events.slice(-mostOfEach)].flat());
  return events.filter((event) => kept.has(event));
}
