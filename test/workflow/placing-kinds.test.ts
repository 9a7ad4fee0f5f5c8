import { describe, expect, test } from 'vitest';
import { AmbiguousOrder, NotReplaceable, OrderInvalid, OrderRefused } from '../../client/orders/errors.js';
import type { PlaceKitOrderInput } from '../../protocol/order/placing-messages.js';
import { labAccountIds, labTestIds } from '../../sandbox/lab-service/seed.js';
import { importFor } from '../rig/cast.js';
import { Kit } from './kit.js';
import { setStage } from './story.js';

const stage = setStage();

type WithPatient = Extract<PlaceKitOrderInput, { kind: 'with_patient' }>;

describe('an order whose test asks a question', () => {
  const labTestPath = `/v3/lab_tests/${labTestIds.otherKit}`;
  const [answered, wrong] = ['AM', 'noon-invented'].map((answer) => [{ marker_id: 14, question_id: 501, answer }]);
  const rule = 'question 501 of marker 14 must be one of AM, PM';

  async function input(answers: WithPatient['order']['aoe_answers']): Promise<WithPatient> {
    const { order, ...rest } = (await stage.input({ kind: 'with_patient' })) as WithPatient;
    return { ...rest, order: { ...order, lab_test_id: labTestIds.otherKit, aoe_answers: answers } };
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
    const { markers } = await stage.product.catalogue.labTest(labTestIds.otherKit);
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
    expect(await stage.countRequests('GET', `/v3/lab_tests/${labTestIds.kit}`)).toBe(0);
  });
});

describe('an import', () => {
  const importPath = '/v3/order/import';

  test('is one order if the answer to it is lost, and waits for results only', async () => {
    await stage.sandbox.addFault({ method: 'POST', path: importPath, times: 1, action: { kind: 'drop_response' } });
    const handle = await stage.product.orders.place(await stage.input({ kind: 'import' }));
    await stage.expectRequests('POST', importPath);
    await stage.skip('1 minute');
    const kit = new Kit(stage, handle, await handle.orderId());
    expect(await stage.countRequests('POST', importPath)).toBe(1);
    expect(await stage.sandbox.orders()).toMatchObject([{ order: { id: kit.rootOrderId } }]);
    const reference = handle.reference ?? '';
    await kit.expectState({ reference, registered: true, phase: 'preparing', attention: [] });
    expect((await kit.handle.state()).waiting).toMatchObject({ for: 'the results' });
    await stage.skip('13 days');
    await kit.expectState({ attention: [] });
    await stage.skip('2 days');
    await kit.expectAttention('results_overdue');
    await kit.move('completed');
    expect(await kit.result()).toMatchObject({ outcome: 'completed', reference });
  });

  test('whose sample cannot be used gets no kit, whatever the policy and a person say: nothing is shipped for it', async () => {
    const kit = await stage.place({ kind: 'import', policy: { onSampleError: 'replace' } });
    await kit.move('failed.testkit.sample_error');
    await stage.skip('25 hours');
    await kit.expectAttention('decision_needed');
    const { rootOrderId: orderId } = kit;
    await expect(kit.handle.replaceKit({ orderId })).rejects.toThrow(NotReplaceable);
    await expect(kit.handle.resolveProblem('replace', { orderId })).rejects.toThrow(NotReplaceable);
    expect(await stage.countRequests('POST', '/v3/order/testkit')).toBe(0);
  });

  test('is never sent twice while an order without a sample id may be it, and never takes the order of another reference', async () => {
    const unavailable = { kind: 'answer', status: 503, body: {} } as const;
    const { userId = '' } = await (await stage.place({ userId: await stage.newUser() })).handle.state();
    const imported = async () => {
      await stage.sandbox.addFault({ method: 'POST', path: importPath, times: 1, action: unavailable });
      const handle = await stage.product.orders.place(await stage.input({ kind: 'import', userId }));
      const orderId = handle.orderId().catch((error: unknown) => error);
      await stage.skip('1 hour');
      return orderId;
    };
    expect(await imported()).toEqual(expect.any(String));
    expect(await stage.countRequests('POST', importPath)).toBe(2);
    await stage.sandbox.createOrder({ user_id: userId });
    expect(await imported()).toBeInstanceOf(AmbiguousOrder);
    expect(await stage.countRequests('POST', importPath)).toBe(3);
  });

  // proves 222
  test('may be on an account that is still pending, and again with its reference is the same order', async () => {
    const input = await stage.input({ kind: 'import', labAccountId: labAccountIds.pending });
    const orderId = await (await stage.product.orders.place(input)).orderId();
    expect(await (await stage.product.orders.place(input)).orderId()).toBe(orderId);
    expect(await stage.countRequests('POST', importPath)).toBe(1);
  });

  test('takes the order that has its sample already, unless that has another reference and is not cancelled', async () => {
    const [userId, sampleId] = [await stage.newUser(), 'SAMPLE-1'];
    const { order } = await stage.service.orders.import(importFor(userId, sampleId));
    const first = await stage.place({ kind: 'import', userId, sampleId });
    expect(first.rootOrderId).toBe(order.id);
    const second = await stage.product.orders.place(await stage.input({ kind: 'import', userId, sampleId }));
    const refusal = (await second.orderId().catch((error: unknown) => error)) as OrderRefused;
    expect(refusal).toBeInstanceOf(OrderRefused);
    expect(refusal.fields).toMatchObject([
      { field: 'sample_id', message: `belongs to order ${order.id}, which has another reference` },
    ]);
    await first.handle.cancel();
    const third = await stage.place({ kind: 'import', userId, sampleId });
    expect(third.rootOrderId).not.toBe(order.id);
    expect(await stage.countRequests('POST', importPath)).toBe(2);
  });
});
