import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { sandboxControl, type SandboxControl } from '../../sandbox/control.js';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import { startLabService, type LabService } from '../../sandbox/lab-service/server.js';
import type { Settings } from '../../sandbox/lab-service/settings.js';
import { serveHttp } from '../../sandbox/temporal/ports.js';
import { patientDetails, shippingDetails } from '../rig/cast.js';

/** The stand-in under test and what talks to it, over real HTTP. Everything that was started ends after its test. */

export const sandboxApiKey = 'sk_test_invented';
export const sandboxManagementKey = 'mk_test_invented';
export const webhookSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export interface OrderBody {
  readonly id: string;
  readonly user_id: string;
  readonly status: string;
  readonly created_at: string;
  readonly events: readonly { readonly id: number; readonly created_at: string; readonly status: string }[];
  readonly last_event: unknown;
  readonly order_transaction: { readonly id: string; readonly status: string; readonly orders: readonly unknown[] };
}

/** What the tests read from a body of the service. Not every body has it all: a wrong guess fails in its assertion. */
interface Body extends OrderBody {
  readonly order: OrderBody;
  readonly orders: readonly OrderBody[];
  readonly order_ids: readonly string[];
  readonly users: readonly { readonly user_id: string }[];
  readonly client_user_id: string;
  readonly total: number;
  readonly detail: string;
  readonly metadata: { readonly status: string };
  readonly missing_results: unknown;
}

/** What the tests read from a webhook. */
interface Envelope {
  readonly event_type: string;
  readonly data: OrderBody;
}

export interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
  readonly body: Body;
}

export interface Sandbox {
  readonly service: LabService;
  /** What it logged. */
  readonly lines: readonly string[];
  readonly control: SandboxControl;
  readonly call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
  /** A new user's id. */
  readonly newUser: () => Promise<string>;
  /** A new kit of a user (a new one by default), as the order in the answer. */
  readonly newKit: (more?: object) => Promise<OrderBody>;
}

export async function startSandbox(settings: Partial<Settings> = {}): Promise<Sandbox> {
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const service = await startLabService({
    port: 0,
    apiKey: sandboxApiKey,
    managementKey: sandboxManagementKey,
    settings,
    log,
  });
  onTestFinished(async () => service.close());
  const control = sandboxControl(service.url);
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    callService(service.url, method, path, body, { 'x-service-api-key': sandboxApiKey, ...headers });
  const newUser = async (): Promise<string> => (await control.createUser()).user.user_id;
  return {
    service,
    lines,
    control,
    call,
    newUser,
    newKit: async (more = {}) => {
      const answer = await call('POST', '/v3/order/testkit', { ...testkitBody(await newUser()), ...more });
      return answer.body.order;
    },
  };
}

export async function callService(
  url: string,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Answer> {
  const answer = await fetch(url + path, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const type = answer.headers.get('content-type');
  const sent = await answer.text();
  const isJson = type?.startsWith('application/json') === true && sent !== '';
  return { status: answer.status, type, text: sent, body: (isJson ? JSON.parse(sent) : {}) as Body };
}

export function testkitBody(userId: string): Record<string, unknown> {
  return { user_id: userId, lab_test_id: labTestIds.kit, shipping_details: shippingDetails };
}

export function knownPatientBody(userId: string): Record<string, unknown> {
  return {
    user_id: userId,
    lab_test_id: labTestIds.kit,
    patient_details: patientDetails,
    patient_address: shippingDetails,
  };
}

export function registerBody(userId: string, sampleId: string): Record<string, unknown> {
  return {
    user_id: userId,
    sample_id: sampleId,
    patient_details: patientDetails,
    patient_address: shippingDetails,
    consents: [{ consentType: 'terms-of-use' }],
  };
}

/** The low-level statuses of an order's events. */
export function lows(order: Pick<OrderBody, 'events'>): string[] {
  return order.events.map((event) => event.status.split('.').at(-1) ?? '');
}

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  readonly json: Envelope;
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
}

/** A webhook receiver that answers what `answer` says for the n-th message (0, 1, …); null: never. */
export async function startReceiver(answer: (n: number) => number | null = () => 204): Promise<Receiver> {
  const received: Received[] = [];
  const { url, close } = await serveHttp(async (request, response) => {
    // A sender that breaks off has sent nothing.
    const raw = await text(request).catch(() => undefined);
    if (raw === undefined) return;
    const status = answer(received.length);
    received.push({
      headers: request.headers,
      raw,
      // Read on demand: a body that was corrupted on the way need not be JSON any more.
      get json() {
        return JSON.parse(raw) as Envelope;
      },
    });
    if (status !== null) response.writeHead(status, status >= 300 && status < 400 ? { location: '/else' } : {}).end();
  });
  onTestFinished(close);
  return { url: `${url}/webhooks`, received };
}
