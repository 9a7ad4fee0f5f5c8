import type { BareOrderInput } from './bare-order.js';
import { consents, patientAddress, patientDetails, shippingDetails } from '../../test/rig/cast.js';

export type BareActivities = ReturnType<typeof bareActivities>;

interface Answer {
  order: { id: string; status: string };
}

/** The three calls of the bare workflow: a request and its answer, unchecked. The persons are invented. */
export function bareActivities(baseUrl: string, apiKey: string) {
  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const answer = await fetch(baseUrl + path, {
      method,
      headers: { 'x-service-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as T;
  }
  return {
    async placeOrder({ userId, labTestId }: BareOrderInput): Promise<string> {
      const body = { user_id: userId, lab_test_id: labTestId, shipping_details: shippingDetails };
      return (await call<Answer>('POST', '/v3/order/testkit', body)).order.id;
    },
    async registerKit({ userId, sampleId }: { userId: string; sampleId: string }): Promise<void> {
      const patient = { patient_details: patientDetails, patient_address: patientAddress, consents };
      await call('POST', '/v3/order/testkit/register', { user_id: userId, sample_id: sampleId, ...patient });
    },
    async readOrder(orderId: string): Promise<string> {
      return (await call<Answer['order']>('GET', `/v3/order/${orderId}`)).status;
    },
  };
}
