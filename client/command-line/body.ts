import type { Command } from 'commander';
import type { RegisterCommand } from '../../protocol/order/messages.js';
import type { PlaceKitOrderInput } from '../../protocol/order/placing-messages.js';
import type { OrderPolicy } from '../../protocol/order/policy.js';
import type { ReportSubmission } from '../report/reports.js';
import { Ended, exitCodes } from './failures.js';
import type { Terminal } from './terminal.js';

/* The bodies that commands read from a file or from standard input, each with an example; a test gives each to its command. */

const person = { first_name: 'Testperson', last_name: 'Invented', dob: '1990-01-31', gender: 'female' } as const;
const address = { first_line: '1 Invented Street', city: 'Springfield', state: 'IL', zip: '62701', country: 'US' };

export const examples = {
  order: {
    reference: 'order-1001',
    kind: 'unregistered',
    order: {
      user_id: '2f6b3a52-1111-4222-8333-944455556666',
      lab_test_id: '7e570000-0000-4000-8000-000000000001',
      shipping_details: { receiver_name: 'Testperson Invented', ...address, phone_number: '+12175550100' },
    },
    policy: { onLost: 'replace', replacementLimit: 2 },
  } satisfies PlaceKitOrderInput,
  registration: {
    sample_id: 'sample-1001',
    patient_details: { ...person, phone_number: '+12175550100', email: 'testperson@example.com' },
    patient_address: { ...address, phone_number: '+12175550100' },
  } satisfies RegisterCommand['registration'],
  policy: { shippingDeadline: '8d', onLost: 'replace' } satisfies OrderPolicy,
  adoptions: 'orderId,reference\n9c1d6f7e-1111-4222-8333-944455556666,order-1001\n',
  report: {
    reference: 'report-1001',
    userId: '2f6b3a52-1111-4222-8333-944455556666',
    file: { path: 'report-1001.pdf' },
  } satisfies ReportSubmission,
  linkAnswer: { state: 'pending_provider_mfa', provider_mfa: { method: 'sms', hint: '*** 17' } },
  headers: { 'X-Invented-Header': 'its value' } satisfies Record<string, string>,
} as const;

/**
 * An option that prints an example of a command's body: `labops orders place --example > order.json`. Nothing else of the command line
 * is read.
 */
export function withExample(command: Command, terminal: Terminal, example: object | string): Command {
  return command.option('--example', 'print an example of the file, and do nothing else').on('option:example', () => {
    terminal.out(typeof example === 'string' ? example : `${JSON.stringify(example, undefined, 2)}\n`);
    throw new Ended(exitCodes.done);
  });
}
