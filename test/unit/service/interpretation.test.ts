import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSearched } from '../../../client/order/order-finder.js';
import { readEvent } from '../../../service/webhooks/events.js';
import { interpretationOf, isCritical, isKnownInterpretation } from '../../../service/interpretation.js';
import { matchReviewSnapshotOf } from '../../../service/match-review/snapshot.js';
import { orderSchema } from '../../../service/order/order.js';
import { defaultInstallation } from '../../../service/installation.js';
import { snapshotOf } from '../../../service/order/projection.js';
import { parsingJobSchema } from '../../../service/report/parsing-job.js';
import { reportSnapshotOf } from '../../../service/report/snapshot.js';

/** In capitals or not, with blanks around it, and with more behind it. */
const alarms = fc
  .record({
    word: fc.constantFrom('critical', 'panic'),
    rest: fc.constantFrom('', '_high', ' low', '-HIGH', ' value low', 'ly high', '*', ': call the physician at once'),
    capitals: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
    before: fc.constantFrom('', ' ', '\t', '\n', '\u00a0'),
    after: fc.constantFrom('', ' ', '\r\n', '\u00a0\u00a0'),
  })
  .map(({ word, rest, capitals, before, after }) => {
    const cased = Array.from(word, (letter, index) => (capitals[index] === true ? letter.toUpperCase() : letter));
    return `${before}${cased.join('')}${rest}${after}`;
  });

const orderWith = (interpretation: string) => orderSchema.parse({ id: 'order-1', interpretation });

describe('an alarm, however the service writes it,', () => {
  const every = (holds: (written: string) => void) => fc.assert(fc.property(alarms, holds));

  test('is one in an order, and in what reaches the workflow of it', () =>
    every((written) => {
      const { interpretation = '' } = snapshotOf(orderWith(written), defaultInstallation);
      expect(isCritical(interpretation)).toBe(true);
      expect(isKnownInterpretation(interpretation)).toBe(true);
    }));

  test('is one in an event of another type that names an order', () =>
    every((interpretation) => {
      const body = { event_type: 'labtest.result.updated', data: { order_id: 'order-1', interpretation } };
      expect(readEvent(body)).toMatchObject({ kind: 'critical_result', report: { orderId: 'order-1' } });
    }));

  test('is one in a result that waits for its review, and counts as critical in a report', () =>
    every((interpretation) => {
      expect(isCritical(matchReviewSnapshotOf({ id: 'review-1', interpretation }).interpretation)).toBe(true);
      const job = parsingJobSchema.parse({ id: 'job-1', data: { results: [{ interpretation }] } });
      expect(reportSnapshotOf(job).counts?.byInterpretation).toMatchObject({ critical: 1, unknown: 0 });
    }));

  test('is found by a search for critical results', () =>
    every((written) => {
      expect(isSearched(orderWith(written), { interpretation: 'critical' })).toBe(true);
      expect(isSearched(orderWith(written), { interpretation: 'normal' })).toBe(false);
    }));
});

test.each([
  ['Normal ', 'normal'],
  ['\tABNORMAL', 'abnormal'],
  ['unknown', 'unknown'],
  [' CRITICAL\n', 'critical'],
  ['', undefined],
  [' ', undefined],
  [null, undefined],
])('a word of the contract is kept in the contract’s spelling: %j is %j', (written, kept) => {
  expect(interpretationOf(written)).toBe(kept);
  expect(isKnownInterpretation(kept ?? 'normal')).toBe(true);
});

test.each(['HH', 'LL', 'A*', '>', 'Crítico', 'above  high normal', 'Critical High', 'panic_low'])(
  'another word is kept as the service wrote it: %j',
  (written) => expect(interpretationOf(` ${written} `)).toBe(written.replace('  ', ' ')),
);

test.each(['H', 'HHH', '<', 'Crítico', 'other', 'high', 'not critical'])(
  '%j is not known: a person has to look',
  (word) => {
    expect(isKnownInterpretation(word)).toBe(false);
    expect(isCritical(word)).toBe(false);
  },
);

test.each(['HH', 'll ', 'Critical High', 'panic_low'])('%j is an alarm', (word) => {
  expect(isCritical(word)).toBe(true);
});

test('a sentence, which may be about a person, leaves nothing but its alarm', () => {
  expect(interpretationOf('see what Testperson Invented wrote')).toBe('other');
  expect(interpretationOf('Critical: Testperson Invented was called')).toBe('critical');
});

test.each(['completed.testkit.completed ', ' Completed.Testkit.Completed\n'])(
  'blanks do not hide a status: %j',
  (status) => {
    const order = orderSchema.parse({ id: 'order-1', status: `${status} `, events: [{ id: 1, status }] });
    const clean = 'completed.testkit.completed';
    expect(snapshotOf(order, defaultInstallation)).toMatchObject({ status: clean, events: [{ status: clean }] });
    expect(readEvent({ event_type: ' labtest.result.amended ', data: order })).toMatchObject({ kind: 'order' });
  },
);
