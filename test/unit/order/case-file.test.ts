import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { note, noteDecided } from '../../../workflows/entity/journal.js';
import type { Chain } from '../../../workflows/order/chain.js';
import { caseFileOf, stateOf } from '../../../workflows/order/view.js';
import { caseOf, day, daysAfterStart, happyPath, kitOf, pathTo, start, withPatient } from './histories.js';

const orderId = '0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9';
const linesOf = (chain: Chain) => caseFileOf(chain).split('\n');
const rowsOf = (chain: Chain) => linesOf(chain).filter((line) => line.startsWith('| 2'));

test('the case file says in words where the order is, what it waits for, what is wrong and what happened', () => {
  const kit = kitOf(orderId, [...pathTo('delivered_to_lab'), 'lab_processing_blocked']);
  kit.events = kit.events.map((event) =>
    event.id === 10 ? { ...event, detail: 'demographic_information_mismatch' } : event,
  );
  const attention = [{ key: 'k', reason: 'problem_persists' as const, orderId, since: daysAfterStart(16), time: 2 }];
  expect(linesOf(caseOf([kit], { reference: 'ref-1', attention }))).toEqual([
    '### At lab',
    '',
    `Order \`${orderId}\`, reference \`ref-1\``,
    '',
    '**Waits for** the lab to continue with the sample until 2024-03-17 10:00:00',
    '',
    '**Problem** Blocked at the lab since 2024-03-10 10:00:00',
    '',
    '**Attention** problem persists since 2024-03-17 10:00:00',
    '',
    '| When (UTC) | Order | What happened |',
    '| --- | --- | --- |',
    '| 2024-03-01 10:00:00 | `0b1c2d3e` | Ordered (`received.testkit.ordered`) |',
    '| 2024-03-02 10:00:00 | `0b1c2d3e` | Waits to be registered (`received.testkit.awaiting_registration`) |',
    '| 2024-03-03 10:00:00 | `0b1c2d3e` | On its way to the customer (`collecting_sample.testkit.transit_customer`) |',
    '| 2024-03-04 10:00:00 | `0b1c2d3e` | Out for delivery (`collecting_sample.testkit.out_for_delivery`) |',
    '| 2024-03-05 10:00:00 | `0b1c2d3e` | With the customer (`collecting_sample.testkit.with_customer`) |',
    '| 2024-03-06 10:00:00 | `0b1c2d3e` | Registered (`received.testkit.testkit_registered`) |',
    '| 2024-03-07 10:00:00 | `0b1c2d3e` | Requisition created (`received.testkit.requisition_created`) |',
    '| 2024-03-08 10:00:00 | `0b1c2d3e` | On its way to the lab (`collecting_sample.testkit.transit_lab`) |',
    '| 2024-03-09 10:00:00 | `0b1c2d3e` | Delivered to the lab (`sample_with_lab.testkit.delivered_to_lab`) |',
    '| 2024-03-10 10:00:00 | `0b1c2d3e` | Blocked at the lab, demographic information mismatch (`sample_with_lab.testkit.lab_processing_blocked`) |',
  ]);
});

describe('the case file', () => {
  test('says the outcome, and the results in a word, once the order has ended', () => {
    expect(linesOf(caseOf([kitOf('order-1', happyPath, { interpretation: 'abnormal' })])).slice(0, 5)).toEqual([
      '### Completed',
      '',
      'Order `order-1`',
      '',
      '**Outcome** completed, results abnormal',
    ]);
    expect(linesOf(caseOf([kitOf('order-1', ['ordered', 'cancelled'])]))).toContain('**Outcome** cancelled');
    const gone = caseOf([kitOf('order-1', ['ordered'])], { ending: 'order_gone' });
    expect(linesOf(gone)).toContain('**Outcome** order gone');
    expect(caseFileOf(gone)).not.toContain('Waits for');
  });

  test('says what is awaited without a time, if there is no limit', () => {
    const lost = kitOf('order-1', [...pathTo('transit_customer', withPatient), 'lost']);
    expect(linesOf(caseOf([lost], { handledDeadlines: ['order-1/3.decision'] }))).toContain(
      '**Waits for** a decision: wait, replace or abandon',
    );
  });

  test('lists the kits of a chain, and nothing for a single kit', () => {
    const lost = kitOf('0a-first-kit', ['ordered', 'transit_customer', 'lost']);
    const next = kitOf('0b-second-kit', ['ordered'], { createdAt: daysAfterStart(6) });
    const claim = { replaces: '0a-first-kit', orderId: '0b-second-kit', atEventId: 3, n: 2 };
    const replacements = [{ ...claim, claimedAt: daysAfterStart(5) }];
    const kits = (chain: Chain) => linesOf(chain).filter((line) => line.startsWith('- '));
    expect(kits(caseOf([lost, next], { replacements }))).toEqual([
      '- `0a-first` initial: failed, followed by `0b-secon`',
      '- `0b-secon` replacement: preparing',
    ]);
    expect(kits(caseOf([lost]))).toEqual([]);
  });

  test('and the timeline keep the latest hundred actions, what a person decided before, and all that was reported', () => {
    const chain = caseOf([kitOf('order-1', happyPath)]);
    noteDecided(chain, { status: 'kit_registered', by: 'nurse-7' }, start, 'order-1');
    for (let n = 1; n <= 150; n += 1) note(chain, `note ${n}`, start + n * day, 'order-1');
    const decided = expect.objectContaining({ status: 'kit_registered', by: 'nurse-7' }) as unknown;
    expect(stateOf(chain).timeline).toContainEqual(decided);
    expect(rowsOf(chain)).toContain('| 2024-03-01 10:00:00 | `order-1` | **kit registered**, by `nurse-7` |');
    expect(rowsOf(chain)).toHaveLength(happyPath.length + 101);
    const latest = Array.from({ length: 100 }, (_, index) => `note ${index + 51}`);
    expect(chain.journal.map(({ what }) => what)).toEqual(['kit registered', ...latest]);
  });

  test('shows what was done in bold between what was reported, by time to the second', () => {
    const chain = caseOf([kitOf('order-1', ['ordered', 'transit_customer'])]);
    noteDecided(chain, { status: 'problem_resolved', detail: 'wait', by: 'nurse-7' }, start + 1500, 'order-1');
    noteDecided(chain, { status: 'kit_registered' }, start, 'order-1');
    note(chain, 'return reminder 1 is due', start + 2 * day, 'order-1');
    expect(rowsOf(chain)).toEqual([
      '| 2024-03-01 10:00:00 | `order-1` | Ordered (`received.testkit.ordered`) |',
      '| 2024-03-01 10:00:00 | `order-1` | **kit registered** |',
      '| 2024-03-01 10:00:01 | `order-1` | **problem resolved: wait**, by `nurse-7` |',
      '| 2024-03-02 10:00:00 | `order-1` | On its way to the customer (`collecting_sample.testkit.transit_customer`) |',
      '| 2024-03-03 10:00:00 | `order-1` | **return reminder 1 is due** |',
    ]);
  });

  test.each([
    ['received.testkit.invented_status', 'Invented status'],
    ['a.b.constructor', 'Constructor'],
    ['lost', 'Lost'],
    ['', '·'],
  ])('names the status %j: %s', (status, words) => {
    const events = [{ id: 1, at: daysAfterStart(0), status }];
    expect(rowsOf(caseOf([{ orderId: 'order-1', events }]))[0]).toContain(`| ${words} (\``);
  });
});

describe('outside text does not break the case file:', () => {
  const spaces = ['\n', '\r\n', '\u2028', ' ', ''];
  const nasty = ['|', '`', '``', ...spaces, '\\|', '\\', '| a | b |', '\n\n# Heading', '<b>', '[a](b)'];

  /** What GFM reads: cells end at pipes that no backslash escapes, and code spans do not reach beyond their cell. */
  const cellsOf = (line: string) => line.split(/(?<!\\)\|/).slice(1, -1);

  const withoutCode = (line: string) => line.replaceAll(/`[^`]+`/g, '');

  /** What is broken in a case file of a chain with four events and one note. */
  function faultsIn(file: string): string[] {
    const lines = file.split(/\r\n|[\n\r\u2028\u2029]/);
    const table = lines.slice(lines.indexOf('| --- | --- | --- |') + 1);
    const beginning = (text: string) => lines.filter((line) => line.startsWith(text)).length;
    return [
      ...(table.length === 5 ? [] : [`${table.length} rows`]),
      ...table.filter(
        (line) => cellsOf(line).length !== 3 || cellsOf(line).some((cell) => withoutCode(cell).includes('`')),
      ),
      ...lines.filter((line) => withoutCode(line).includes('`')),
      ...(beginning('#') === 1 && beginning('Order ') === 1 ? [] : ['another heading or order']),
    ];
  }

  /** Everything from outside that is shown: for a chain of two, with results, a problem and what was done. */
  function caseWith(text: string): Chain {
    const statuses = [`a${text}b`, `${text}.lab_processing_blocked`];
    const events = statuses.map((status, index) => ({ id: index + 1, at: text, status, detail: text }));
    const first = { orderId: `${text}1`, origin: text, events, interpretation: text };
    const chain = caseOf([first, { ...first, orderId: `${text}2`, parentId: `${text}1` }], { reference: text });
    note(chain, 'decided: wait', start, `${text}1`);
    return chain;
  }

  test('in whatever field it stands, while the chain is followed and once it has ended', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom(...nasty, 'a', '_', '#')).map((parts) => parts.join('')),
    );
    const isWhole = fc.property(text, (some) => {
      for (const ended of [{}, { ending: 'failed' as const }])
        expect(faultsIn(caseFileOf({ ...caseWith(some), ...ended }))).toEqual([]);
    });
    fc.assert(isWhole, { examples: nasty.map((some) => [some]) });
  });
});
