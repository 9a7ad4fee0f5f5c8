import type { FastifyInstance, FastifyReply } from 'fastify';
// In your backend: '@lab-operations/client'.
import type { LabOperations } from '../../client/index.js';
import { form, type Field, type Option } from './forms.js';
import { html, show, words } from './html.js';
import { addressFields, addressOf, patientFields, patientOf } from './persons.js';
import { carryOut, type Problem } from './problems.js';
import { fieldsOf, newReference, requireStaff } from './session.js';

/** Orders whose sample exists already, for instance from a kit of your own: staff enter them, the customer sees them. */
export function importRoutes(app: FastifyInstance, lab: LabOperations): void {
  app.get('/staff/imports', (request, reply) => {
    requireStaff(request);
    return importPage(lab, reply);
  });

  app.post('/staff/imports', (request, reply) => {
    requireStaff(request);
    const entered = fieldsOf(request);
    const act = async () => {
      const { user_id: userId } = await lab.users.readByClientUserId(entered['client_user_id'] ?? '');
      const { method } = await lab.catalogue.labTest(entered['lab_test_id'] ?? '');
      const { first_name = '', last_name = '' } = entered;
      const reference = newReference(userId);
      await lab.orders.place({
        reference,
        kind: 'import',
        order: {
          user_id: userId,
          billing_type: entered['billing_type'] ?? '',
          order_set: { lab_test_ids: [entered['lab_test_id'] ?? ''] },
          collection_method: method ?? 'testkit',
          patient_details: patientOf(entered),
          patient_address: { ...addressOf(entered), receiver_name: `${first_name} ${last_name}` },
          sample_id: entered['sample_id'] ?? '',
        },
      });
      return `/staff/imports/${reference}`;
    };
    return carryOut(reply, act, (problem) => importPage(lab, reply, { entered, problem }));
  });

  app.get('/staff/imports/:reference', async (request, reply) => {
    requireStaff(request);
    const { reference } = request.params as { reference: string };
    const orderId = await (await lab.orders.getHandle({ reference })).orderId();
    return show(reply, 'Imported', html`<p>The order is <strong id="order">${orderId}</strong>.</p>`, {
      audience: 'staff',
    });
  });
}

async function importPage(
  lab: LabOperations,
  reply: FastifyReply,
  sent?: { entered: Record<string, string>; problem: Problem },
): Promise<FastifyReply> {
  const tests: Option[] = [];
  for await (const { id, name } of lab.catalogue.labTests({ status: 'active' })) {
    tests.push({ value: id, text: name ?? id });
  }
  const billing = ['client_bill', 'patient_bill', 'commercial_insurance'];
  const fields: Field[] = [
    { name: 'client_user_id', label: 'Account', hint: 'Your own id of the customer' },
    { name: 'lab_test_id', label: 'Test', options: tests },
    { name: 'sample_id', label: 'Sample id' },
    { name: 'billing_type', label: 'Billing', options: billing.map((value) => ({ value, text: words(value) })) },
    ...patientFields,
    ...addressFields,
  ];
  const content = form('/staff/imports', 'Import', { fields, ...sent });
  return show(reply, 'Import an order', content, { audience: 'staff', status: sent ? 422 : 200 });
}
