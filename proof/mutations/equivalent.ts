/** Changes that make no difference, so no test can notice them: each class with its reason. */
export interface Equivalent {
  reason: string;
  /** Files, each by the end of its path; absent is any. */
  in?: readonly string[];
  mutator: string;
  /** The line before `⟦`, what is changed, and the line after `⟧`. */
  at: RegExp;
  /** What it becomes; absent is anything. */
  to?: RegExp;
}

export const equivalents: readonly Equivalent[] = [
  {
    reason: 'a field that is set to undefined is not in the JSON that a message, a history or the next run gets',
    // Not where it would take the place of a value, in this run.
    in: [
      ...['protocol/order/root-order.ts', 'workflows/entity/journal.ts', 'workflows/appointment/appointment.ts'],
      ...['workflows/link/link.ts', 'workflows/link/deadlines.ts', 'workflows/order/announcements.ts'],
      ...['workflows/report/announcements.ts', 'workflows/order/chain.ts', 'workflows/deletion/deletion.ts'],
      ...['workflows/deletion/workflow.ts', 'workflows/deletion/commands.ts', 'workflows/deletion/grace.ts'],
      ...['workflows/report/identify.ts'],
      ...['workflows/order/workflow.ts'],
      ...['workflows/appointment/commands.ts', 'workflows/match-review/commands.ts'],
      ...['workflows/order/intake.ts', 'workflows/order/replacement-order.ts', 'workflows/order/identify.ts'],
    ],
    mutator: 'ConditionalExpression',
    at: /\.\.\.\(⟦(\w+(?:\.\w+)*) !== undefined⟧ && \{ (?:\w+: )?\1 \}\)/,
    to: /^true$/,
  },
  {
    reason: 'the compiler checks that no value is left for the default of a switch',
    mutator: 'ConditionalExpression',
    at: /⟦default:/,
  },
  {
    reason: 'the same: a field that is undefined',
    mutator: 'ConditionalExpression',
    at: /⟦((?:\w+\.)?\w+) === undefined⟧ \? \{\} : \{ (?:\w+: )?\1 \}/,
    to: /^false$/,
  },
  {
    reason: 'the same: undefined in place of nothing',
    mutator: 'ConditionalExpression',
    at: /if \(⟦((?:\w+\.)?(\w+)) !== undefined⟧\) \w+\.\2 (?:\?\?)?= \1;/,
    to: /^true$/,
  },
  {
    reason: 'the same: undefined in place of nothing',
    in: ['workflows/link/link.ts'],
    mutator: 'ConditionalExpression',
    at: /if \(⟦slug !== undefined⟧ && sourceSlug\(link\) === undefined\)/,
    to: /^true$/,
  },
  {
    reason: 'the same: none of these fields is one that it would take the place of',
    in: ['workflows/order/critical-results.ts'],
    mutator: 'ConditionalExpression',
    at: /\.\.\.\(⟦(interpretation|updatedAt|correctedBy) !== undefined⟧ && \{ \1 \}\)/,
    to: /^true$/,
  },
  {
    reason: 'both sides are the same then, and so is the result',
    mutator: 'EqualityOperator',
    at: /⟦(\w+) > (\w+)⟧ \? \1 : \2/,
    to: />=/,
  },
  {
    reason: 'both are the same time then',
    in: ['workflows/order/deadlines.ts'],
    mutator: 'EqualityOperator',
    at: /⟦scheduled > Date\.parse\(placed \?\? ''\)⟧/,
    to: />=/,
  },
  {
    reason: 'the case of 0 was answered before',
    in: ['workflows/appointment/appointment.ts'],
    mutator: 'EqualityOperator',
    at: /⟦(?:more|later) > 0⟧ \? 'newer' : 'nothing'/,
    to: />= 0/,
  },
  {
    reason: 'there is an appointment in every phase in which this is asked, which the compiler does not know',
    in: ['workflows/appointment/appointment.ts', 'workflows/appointment/deadlines.ts'],
    mutator: 'OptionalChaining',
    at: /⟦known\?\.(?:status|startAt|endAt|appointmentId)⟧/,
  },
  {
    reason: 'without its case the default returns the name of the reason, which counts as true',
    in: ['workflows/appointment/appointment.ts'],
    mutator: 'ConditionalExpression',
    at: /⟦case 'notifications_undelivered':/,
  },
  {
    reason: 'a slot that was chosen has a start',
    in: ['workflows/appointment/appointment.ts'],
    mutator: 'ConditionalExpression',
    at: /⟦known\.startAt === undefined⟧ \|\| known\.startAt !== start/,
    to: /^false$/,
  },
  {
    reason: 'a moment that is not a number is left out',
    in: ['workflows/appointment/deadlines.ts'],
    mutator: 'ConditionalExpression',
    at: /if \(⟦at !== undefined⟧\) read|⟦case 'completed':/,
    to: /^true$|^case/,
  },
  {
    reason: 'what only the service can put in order is asked without an end, too',
    in: ['workflows/appointment/deadlines.ts'],
    mutator: 'ConditionalExpression',
    at: /return ⟦ending !== undefined⟧ && ending !== 'abandoned' && unclear/,
    to: /^true$/,
  },
  {
    reason: 'no read is due any more once the service was asked',
    in: ['workflows/appointment/deadlines.ts'],
    mutator: 'ConditionalExpression',
    at: /⟦case 'read_the_appointment':/,
  },
  {
    reason: 'an order with an event has one that brought it where it is',
    in: ['workflows/order/announcements.ts'],
    mutator: 'ConditionalExpression',
    at: /if \(⟦!turn⟧\) return/,
    to: /^false$/,
  },
  {
    reason: 'the order was looked for before, and is known',
    in: ['workflows/order/resolutions.ts', 'workflows/order/commands.ts'],
    mutator: 'OptionalChaining',
    at: /⟦findOrder\(chain, orderId\)\?\.standing⟧/,
  },
  {
    reason: 'a safe integer is a number',
    in: ['workflows/report/reports.ts'],
    mutator: 'ConditionalExpression',
    at: /⟦typeof count === 'number'⟧ && Number\.isSafeInteger/,
    to: /^true$/,
  },
  {
    reason: 'a result that is not open has an acknowledgement',
    in: ['workflows/order/critical-results.ts'],
    mutator: 'OptionalChaining',
    at: /⟦known\.acknowledgements\.at\(-1\)\?\.at⟧/,
  },
  {
    reason: 'undefined is sorted to the end, and only the first is taken',
    in: ['workflows/order/deadlines.ts'],
    mutator: 'ConditionalExpression',
    at: /if \(⟦reminder⟧\) others\.push/,
    to: /^true$/,
  },
  {
    reason: 'the others are among the moments anyway',
    in: ['workflows/order/deadlines.ts'],
    mutator: 'MethodExpression',
    at: /⟦unmet\.filter\(needsRead\)⟧/,
  },
  {
    reason: 'an order that has ended was answered before',
    in: ['workflows/order/deadlines.ts'],
    mutator: 'ConditionalExpression',
    at: /⟦case 'cancelled':/,
  },
  {
    reason: 'the same: a field that is undefined',
    in: ['workflows/entity/outbox.ts'],
    mutator: 'ConditionalExpression',
    at: /^\s*⟦(\w+) !== undefined⟧ && \{ \1 \},/,
    to: /^true$/,
  },
  {
    reason: 'a timer ends with its time or with a cancellation, and with nothing else',
    in: ['workflows/entity/alarm.ts'],
    mutator: 'BlockStatement',
    at: /function ignoreCancellation\(reason: unknown\): void ⟦/,
  },
  {
    reason: 'the same',
    in: ['workflows/entity/alarm.ts'],
    mutator: 'ConditionalExpression',
    at: /if \(⟦!isCancellation\(reason\)⟧\) throw reason/,
    to: /^false$/,
  },
  {
    reason: 'the line before waits until there is an end, which the compiler does not know',
    in: ['workflows/entity/attempts.ts'],
    mutator: 'ConditionalExpression',
    at: /if \(⟦end === undefined⟧\) throw new TypeError/,
    to: /^false$/,
  },
  {
    reason: 'a cancellation stops the attempts, so a run that goes on in a new one has nobody to answer',
    in: ['workflows/entity/attempts.ts'],
    mutator: 'ConditionalExpression',
    at: /if \(⟦(?:!\(error instanceof ContinueAsNew\)|run\.end !== undefined)⟧\)/,
    to: /^true$/,
  },
  {
    reason: 'the main loop sets it before it looks at it for the first time',
    in: ['workflows/entity/loop.ts'],
    mutator: 'BooleanLiteral',
    at: /alarm: new Alarm\(\), hasNews: ⟦false⟧/,
  },
  {
    reason: 'undefined is as good as false here',
    in: ['workflows/entity/loop.ts'],
    mutator: 'ArrowFunction',
    at: /isForwarded = ⟦\(\) => false⟧/,
  },
  {
    reason: 'without a receiver nothing is put into the outbox',
    in: ['workflows/entity/outbox.ts'],
    mutator: 'ConditionalExpression',
    at: /return ⟦notifies === false⟧ \|\| outbox\.length === 0/,
    to: /^false$/,
  },
  {
    reason:
      'only an end has an outcome, and what has one of these names has a text there, which the compiler does not know',
    in: ['workflows/entity/outbox.ts'],
    mutator: 'ConditionalExpression',
    at: /⟦name === 'ended'⟧ \? outcome : name|⟦typeof what === 'string'⟧ \? what : name/,
    to: /^true$/,
  },
];

/** A change as it stands in its file. */
export interface Change {
  fileName: string;
  mutatorName: string;
  replacement?: string;
  location: { start: Position; end: Position };
}

/** From 1. */
interface Position {
  line: number;
  column: number;
}

/** The first class that a change belongs to. @param text the file */
export function equivalentOf(change: Change, text: string): Equivalent | undefined {
  const { fileName, mutatorName, replacement = '' } = change;
  const context = contextOf(change, text);
  return equivalents.find(
    ({ in: files, mutator, at, to }) =>
      mutator === mutatorName &&
      (files?.some((file) => fileName.endsWith(file)) ?? true) &&
      at.test(context) &&
      (to?.test(replacement) ?? true),
  );
}

/** The lines of a change, with what is changed between ⟦ and ⟧. */
export function contextOf({ location: { start, end } }: Change, text: string): string {
  const lines = text.split('\n').slice(start.line - 1, end.line);
  const last = lines.pop() ?? '';
  const marked = `${last.slice(0, end.column - 1)}⟧${last.slice(end.column - 1)}`;
  const [first, ...rest] = [...lines, marked];
  return [`${first.slice(0, start.column - 1)}⟦${first.slice(start.column - 1)}`, ...rest].join('\n');
}
