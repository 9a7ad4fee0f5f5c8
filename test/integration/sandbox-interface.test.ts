import { describe, expect, onTestFinished, test } from 'vitest';
import { labAccountIds, labTestIds } from '../../sandbox/lab-service/seed.js';
import type { Settings } from '../../sandbox/lab-service/settings.js';
import { createLabService, type LabService } from '../../service/lab-service.js';
import type { ImportOrderRequest, OrderRequest } from '../../service/orders.js';
import { patientDetails, shippingDetails } from '../rig/cast.js';
import { all } from '../rig/all.js';
import { sandboxApiKey, webhookSecret, startReceiver, startSandbox, type Sandbox } from './sandbox-rig.js';

/** The stand-in and the product's own client for it. */
async function startBoth(settings: Partial<Settings> = {}): Promise<Sandbox & { readonly client: LabService }> {
  const sandbox = await startSandbox(settings);
  const client = createLabService({ baseUrl: sandbox.service.url, apiKey: sandboxApiKey });
  onTestFinished(() => client.close());
  return { ...sandbox, client };
}

function importOf(userId: string, more: Partial<ImportOrderRequest> = {}): ImportOrderRequest {
  const { phone_number: _, ...home } = shippingDetails;
  return {
    user_id: userId,
    billing_type: 'client_bill',
    order_set: { lab_test_ids: [labTestIds.walkIn] },
    collection_method: 'walk_in_test',
    patient_details: patientDetails,
    patient_address: home,
    sample_id: 'SAMPLE-INVENTED',
    ...more,
  };
}

function orderOf(userId: string, more: Partial<OrderRequest> = {}): OrderRequest {
  return {
    user_id: userId,
    lab_test_id: labTestIds.walkIn,
    patient_details: patientDetails,
    patient_address: shippingDetails,
    ...more,
  };
}

describe('markers', () => {
  // proves 224
  test('are listed page by page, and narrowed by lab and name', async () => {
    const { client } = await startBoth();
    const markers = await all(client.labTests.listMarkers({ labSlug: 'invented-lab' }, { pageSize: 3 }));
    expect(markers.map(({ name }) => name)).toEqual(['Glucose', 'Hemoglobin A1c', 'Ferritin', 'Cortisol']);
    expect(await all(client.labTests.listMarkers({ labSlug: 'another-lab' }))).toEqual([]);
    expect(await all(client.labTests.listMarkers({ labIds: [1], name: 'corti' }))).toMatchObject([
      { slug: 'cortisol' },
    ]);
    expect(await all(client.labTests.listMarkers({ aLaCarteEnabled: false }))).toEqual([]);
  });

  // proves 224, 305
  test('markers of a page too large are refused like any other fault', async () => {
    const { client } = await startBoth();
    await expect(all(client.labTests.listMarkers({}, { pageSize: 101 }))).rejects.toMatchObject({
      status: 422,
      fields: [{ field: 'query.size' }],
    });
  });
});

describe("a workout's stream", () => {
  const workout = '7e570000-0000-4000-8000-00000000000a';

  // proves 215, 303
  test('exists under any id, the same each time, with gaps and missing channels', async () => {
    const { client } = await startBoth();
    const stream = await client.timeseries.workoutStream(workout);
    expect(stream.time).toHaveLength(60);
    expect(stream.heartrate).toHaveLength(60);
    expect(stream.heartrate).toContain(null);
    expect(stream).toMatchObject({ power: null, resistance: [] });
    expect(await client.timeseries.workoutStream(workout)).toEqual(stream);
  });

  // proves 171, 215, 311
  test("a workout's stream without a workout is not found, and an id must be a UUID", async () => {
    const { client } = await startBoth();
    await expect(client.timeseries.workoutStream('00000000-0000-0000-0000-000000000000')).rejects.toMatchObject({
      name: 'NotFound',
    });
    await expect(client.timeseries.workoutStream('workout-1')).rejects.toMatchObject({ status: 422 });
  });
});

describe('an imported order', () => {
  // proves 222
  test('has its sample, needs no requisition, and sends its webhooks', async () => {
    const { url: webhookUrl, received } = await startReceiver();
    const { client, control, newUser } = await startBoth({ webhookUrl, webhookSecrets: [webhookSecret] });
    const { order } = await client.orders.import(importOf(await newUser()));
    expect(order).toMatchObject({
      sample_id: 'SAMPLE-INVENTED',
      status: 'received',
      patient_address: { country: 'United States' },
      details: { type: 'walk_in_test' },
    });
    expect(order.events?.map(({ status }) => status)).toEqual(['received.walk_in_test.requisition_bypassed']);
    await control.settleWebhooks();
    expect(received.map(({ json }) => json.event_type)).toEqual(['labtest.order.created']);
  });

  // proves 222
  test('may be on an account that is still pending, which no other order may be', async () => {
    const { client, newUser } = await startBoth();
    const userId = await newUser();
    const pending = { lab_account_id: labAccountIds.pending };
    expect((await client.orders.import(importOf(userId, pending))).order.lab_account_id).toBe(labAccountIds.pending);
    await expect(client.orders.create(orderOf(userId, pending))).rejects.toMatchObject({
      status: 400,
      reason: 'Lab account is pending',
    });
    expect(await client.labTests.listLabAccounts({ status: 'pending' })).toMatchObject([
      { id: pending.lab_account_id },
    ]);
  });

  // proves 222
  test('is collected as it says, even from markers alone', async () => {
    const { client, newUser } = await startBoth();
    const { order } = await client.orders.import(
      importOf(await newUser(), {
        order_set: { add_on: { marker_ids: [11] } },
        collection_method: 'at_home_phlebotomy',
      }),
    );
    expect(order.events?.map(({ status }) => status)).toEqual(['received.at_home_phlebotomy.requisition_bypassed']);
  });

  // proves 137, 138, 222
  test('needs the physician of a delegated account, and a user who exists', async () => {
    const { client, newUser } = await startBoth();
    const userId = await newUser();
    for (const lab_account_id of [labAccountIds.orderDelegated, labAccountIds.fullyDelegated]) {
      await expect(client.orders.import(importOf(userId, { lab_account_id }))).rejects.toMatchObject({
        status: 422,
        fields: [{ field: 'physician' }],
      });
    }
    await expect(client.orders.import(importOf(labTestIds.kit))).rejects.toMatchObject({ name: 'NotFound' });
  });

  // proves 305
  test('names every fault of its body', async () => {
    const { call } = await startBoth();
    const { status, body } = await call('POST', '/v3/order/import', { collection_method: 'mail', order_set: 5 });
    expect(status).toBe(422);
    expect(body.detail.map(({ type, loc }) => `${loc.join('.')} ${type}`)).toEqual([
      'body.order_set model_attributes_type',
      'body.user_id missing',
      'body.collection_method enum',
      'body.billing_type missing',
      'body.sample_id missing',
      'body.patient_details missing',
      'body.patient_address missing',
    ]);
  });
});

describe("an order's comments", () => {
  // proves 139, 140
  test.each([
    [labAccountIds.orderDelegated, 'Invented comment', 'Fasting sample preferred.\nInvented comment'],
    [labAccountIds.orderDelegated, null, 'Fasting sample preferred.'],
    [labAccountIds.notDelegated, 'Invented comment', 'Invented comment'],
    [labAccountIds.notDelegated, null, null],
  ])(
    "an order's comments on the account %s with %j lead to the requisition %j",
    async (account, comment, requisition) => {
      const { client, control, newUser } = await startBoth();
      const physician = { first_name: 'Doctor', last_name: 'Invented', npi: '0123456789' };
      const { order } = await client.orders.create(
        orderOf(await newUser(), { lab_account_id: account, clinical_notes: comment, physician }),
      );
      expect(order.clinical_notes).toBe(comment);
      expect((await control.order(order.id)).requisitionNotes).toBe(requisition);
    },
  );
});

describe('a feature that the team is not enabled for', () => {
  const calls: [Settings['closedFeatures'][number], (client: LabService) => Promise<unknown>][] = [
    ['portal', (client) => client.portal.createUrl(labTestIds.kit, { context: 'launch' })],
    ['links', (client) => client.links.createToken({ user_id: labTestIds.kit })],
    ['timeseries', (client) => client.timeseries.workoutStream(labTestIds.kit)],
    ['markers', (client) => all(client.labTests.listMarkers())],
    ['import', (client) => client.orders.import(importOf(labTestIds.kit))],
    ['appointments', (client) => client.appointments.get(labTestIds.kit)],
    ['reports', (client) => client.reports.getJob(labTestIds.kit)],
  ];

  // proves 180, 308
  test.each(calls)('%s is refused as such, in JSON and in plain text', async (feature, call) => {
    const { client, control } = await startBoth({ closedFeatures: [feature] });
    await expect(call(client)).rejects.toMatchObject({ name: 'FeatureNotEnabled', status: 403 });
    await control.changeSettings({ closedFeatureBody: 'text' });
    await expect(call(client)).rejects.toMatchObject({ name: 'FeatureNotEnabled', status: 403 });
    await control.changeSettings({ closedFeatures: [] });
    const open = await call(client).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(open).not.toMatchObject({ name: 'FeatureNotEnabled' });
  });
});
