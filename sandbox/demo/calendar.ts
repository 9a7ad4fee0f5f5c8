import ms from 'ms';
import { defaultPolicy, type Duration, type OrderPolicy } from '../../client/index.js';

/** The compressed days of the stories: how long they are, and which day of a story a moment falls on. */
export class Calendar {
  readonly dayMs: number;

  constructor(daySeconds: number) {
    this.dayMs = daySeconds * 1000;
  }

  /** The day of a story: 0 is the day it began. */
  dayOf(moment: string | number, began: number): number {
    const at = typeof moment === 'number' ? moment : Date.parse(moment);
    return Math.max(0, Math.floor((at - began) / this.dayMs));
  }

  /** Real milliseconds of a span of story time. A policy takes nothing shorter than a second. */
  compressed(span: Duration): number {
    return Math.max(1000, Math.round((ms(span) / ms('1d')) * this.dayMs));
  }

  /**
   * The policy that an order gets: the requested one or the defaults, with days as short as the sandbox's. What is measured
   * in the time of networks instead of the post is not compressed.
   */
  policy(requested: OrderPolicy): OrderPolicy {
    const compressed = Object.entries({ ...defaultPolicy, ...requested }).map(([name, value]) => {
      if (unmeasured.test(name)) return [name, value];
      const spans = value as Duration | Duration[];
      const inRealTime = (span: Duration) => `${this.compressed(span)}ms`;
      return [name, Array.isArray(spans) ? spans.map(inRealTime) : inRealTime(spans)];
    });
    return { ...(Object.fromEntries(compressed) as OrderPolicy), ...networkTime };
  }
}

/** The local sandbox answers in milliseconds: after a lost answer nobody has to wait for as long as by default. */
const networkTime = { creationTimeout: '2s', notificationDeadline: '1m' } as const satisfies OrderPolicy;

/** Settings that are not spans of time. No story counts in business days. */
const unmeasured = /^(on[A-Z]\w*|replacementLimit|holidays|utcOffset)$/;
