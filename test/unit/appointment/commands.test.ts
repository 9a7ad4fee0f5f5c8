import { describe, expect, test } from 'vitest';
import type { AppointmentRun } from '../../../workflows/appointment/appointment.js';
import {
  validateCancellation,
  validateChoice,
  validateQuestion,
  validateRequest,
} from '../../../workflows/appointment/commands.js';
import { openRun } from '../../../workflows/entity/loop.js';
import { requestedCase } from './appointments.js';

/* The rules of what a product asks for: each field, with the greatest that is taken and the least that is not. */

const slotId = '2026-03-02_2026-03-02T10:00:00.000Z_2026-03-02T11:00:00.000Z';

const commands = {
  findSlots: { validate: validateQuestion, usual: {} },
  chooseSlot: { validate: validateChoice, usual: { slotId } },
  requestAppointment: { validate: validateRequest, usual: { provider: 'invented' } },
  cancel: { validate: validateCancellation, usual: {} },
} as const;

type Name = keyof typeof commands;
const names = Object.keys(commands) as Name[];

/** The field that is refused; undefined if the command is accepted. */
function refusedField(name: Name, given: object, appointment = requestedCase()): string | undefined {
  const run = { ...openRun(), appointment } as AppointmentRun;
  try {
    const validate = commands[name].validate as (run: AppointmentRun, given: object) => void;
    validate(run, { ...commands[name].usual, ...given });
    return undefined;
  } catch (error) {
    const { type, details } = error as { type: string; details: { fields: { field: string }[]; reason?: string }[] };
    return type === 'InvalidCommand' ? details[0]?.fields[0]?.field : `${type} ${details[0]?.reason}`;
  }
}

const taken: [Name, object][] = [
  ['findSlots', { startDate: '2026-03-02' }],
  ['findSlots', { siteCodes: ['a'] }],
  ['findSlots', { siteCodes: ['a', 'b', 'c'] }],
  ['findSlots', { zipCode: '85004' }],
  ['findSlots', { zipCode: '85004-1234', radius: 25 }],
  ['chooseSlot', { notes: 'x'.repeat(1000) }],
  ['chooseSlot', { notes: '🙂'.repeat(1000) }],
  ['requestAppointment', { provider: 'a.b-c_1' }],
  ['requestAppointment', { provider: 'x'.repeat(64), notes: '' }],
  ['cancel', { reasonId: 'reason-1', rebook: true, notes: 'called' }],
  ['cancel', { rebook: false }],
];

test.each([...names.map((name): [Name, object] => [name, {}]), ...taken])('%s takes %j', (name, given) => {
  expect(refusedField(name, given)).toBeUndefined();
});

const refused: [Name, string, unknown[]][] = [
  ['findSlots', 'startDate', ['2026-3-2', '2026-13-01', '2026-02-30', 'x2026-03-02']],
  ['findSlots', 'startDate', ['2026-03-02T00:00:00Z', 20_260_302]],
  ['findSlots', 'siteCodes', [[], ['a', 'b', 'c', 'd'], [''], [7], ['a', 7], 'a']],
  ['findSlots', 'zipCode', ['8500', '850041', '85004-', '85004-12345', 85_004]],
  ['findSlots', 'radius', [0, 15, '25']],
  ['chooseSlot', 'slotId', ['', 'tomorrow', undefined, 7]],
  ['chooseSlot', 'notes', ['x'.repeat(1001), 7]],
  ['requestAppointment', 'notes', ['x'.repeat(1001), 7]],
  ['requestAppointment', 'provider', ['', 'a b', 'x'.repeat(65), undefined, 7]],
  ['cancel', 'notes', ['x'.repeat(1001), 7]],
  ['cancel', 'reasonId', ['', 7]],
  ['cancel', 'rebook', ['yes', 1]],
];

test.each<[Name, object, string]>([
  ...refused.flatMap(([name, field, values]) =>
    [...values, null].map((value): [Name, object, string] => [name, { [field]: value }, field]),
  ),
  ['findSlots', { siteCodes: ['a'], zipCode: '85004' }, 'siteCodes'],
  ['findSlots', { siteCodes: ['a'], radius: 25 }, 'siteCodes'],
])('%s refuses %j, naming %s', (name, given, field) => {
  expect(refusedField(name, given)).toBe(field);
});

test('a command without its argument is refused if it needs one', () => {
  const run = { ...openRun(), appointment: requestedCase() } as AppointmentRun;
  expect(() => validateQuestion(run, undefined)).not.toThrow();
  expect(() => validateCancellation(run, undefined as never)).not.toThrow();
  expect(() => validateChoice(run, undefined)).toThrow(/slotId/);
  expect(() => validateRequest(run, undefined)).toThrow(/provider/);
});

describe('after the end', () => {
  test.each(names)('%s is refused with how it ended', (name) => {
    expect(refusedField(name, {}, requestedCase(undefined, { ending: 'expired' }))).toBe('AppointmentEnded expired');
  });

  test.each([
    ['order_ended', 'cancelled', 'order_ended (the order was cancelled)'],
    ['order_ended', 'no_appointment', 'order_ended (the order is collected without an appointment)'],
    ['order_ended', undefined, 'order_ended'],
    ['expired', 'cancelled', 'expired'],
  ] as const)('the refusal says why nobody comes, if it ended with its order: %s, %s', (ending, order, said) => {
    const ended = requestedCase(undefined, { ending, ...(order && { order }) });
    const message = `Nothing is being arranged for this order any more: ${said}`;
    const refusal = expect.objectContaining({ message }) as Error;
    expect(() => validateQuestion({ appointment: ended } as AppointmentRun, {})).toThrow(refusal);
  });
});
