import { describe, expect, test } from 'vitest';
import { OrderInvalid, OrderRefused } from '../../client/orders/errors.js';
import type { PlaceKitOrderInput } from '../../protocol/order/messages.js';
import { LAB_TEST_IDS } from '../../sandbox/lab-service/seed.js';
import { setStage } from './story.js';

const stage = setStage();

type WithPatient = Extract<PlaceKitOrderInput, { kind: 'with_patient' }>;

describe('an order whose test asks a question', () => {
  const labTestPath = `/v3/lab_tests/${LAB_TEST_IDS.otherKit}`;
  const [answered, wrong] = ['AM', 'noon-invented'].map((answer) => [{ marker_id: 14, question_id: 501, answer }]);
  const rule = 'question 501 of marker 14 must be one of AM, PM';

  async function input(answers: WithPatient['order']['aoe_answers']): Promise<WithPatient> {
    const { order, ...rest } = (await stage.input({ kind: 'with_patient' })) as WithPatient;
    return { ...rest, order: { ...order, lab_test_id: LAB_TEST_IDS.otherKit, aoe_answers: answers } };
  }

  test('is refused for a wrong answer before the call, with the question and without the answer', async () => {
    const handle = await stage.product.orders.place(await input(wrong));
    const refusal = (await handle.orderId().catch((error: unknown) => error)) as OrderRefused;
    expect(refusal).toBeInstanceOf(OrderRefused);
    expect(refusal.message).toContain(`aoe_answers.0.answer to ${rule}`);
    expect(refusal.message).not.toContain('invented');
    expect(refusal.fields).toMatchObject([{ field: 'aoe_answers.0.answer' }]);
    expect(await stage.countRequests('POST', '/v3/order')).toBe(0);
  });

  test('is refused before anything is started if the product gives the markers, and also for a missing answer', async () => {
    const { markers } = await stage.product.catalogue.labTest(LAB_TEST_IDS.otherKit);
    for (const answers of [wrong, [], undefined]) {
      const placing = stage.product.orders.place(await input(answers), { markers });
      const refusal = (await placing.catch((error: unknown) => error)) as OrderInvalid;
      expect(refusal).toBeInstanceOf(OrderInvalid);
      expect(refusal.fields[0]?.field).toMatch(/^order\.aoe_answers/);
    }
    expect(await stage.countRequests('POST', '/v3/order')).toBe(0);
  });

  test('is placed with the right answer for one read more, and if that read fails', async () => {
    await (await stage.product.orders.place(await input(answered))).orderId();
    expect(await stage.countRequests('GET', labTestPath)).toBe(1);
    await stage.sandbox.addFault({ path: labTestPath, action: { kind: 'answer', status: 404, body: 'no upstream' } });
    await (await stage.product.orders.place(await input(answered))).orderId();
    // The service itself says the same, later.
    const refused = await stage.product.orders.place(await input(wrong));
    await expect(refused.orderId()).rejects.toThrow(OrderRefused);
    expect(await stage.countRequests('POST', '/v3/order')).toBe(3);
  });

  test('costs no read without answers', async () => {
    await stage.place({ kind: 'with_patient' });
    expect(await stage.countRequests('GET', `/v3/lab_tests/${LAB_TEST_IDS.kit}`)).toBe(0);
  });
});
