import { context, propagation, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { Client } from '@temporalio/client';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { LabOperations, type OrderHandle } from '../../client/index.js';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import { kitFor, personal, registration } from '../rig/cast.js';
import { replayed } from '../replay/replaying.js';
import { type CollectedSpan, startTraceCollector } from '../rig/trace-collector.js';
import { patience, stack } from './stack.js';

const collector = await startTraceCollector();
const traced = {
  TRACES: 'otlp',
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_BSP_SCHEDULE_DELAY: '100',
};
const lab = stack({ worker: traced });
const { dataConverter } = lab;

/** The product's own spans. */
const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
let labs: LabOperations;
let handle: OrderHandle;
let orderId: string;
const reference = 'story-traced';

beforeAll(async () => {
  provider.register();
  const workflow = [new OpenTelemetryWorkflowClientInterceptor()];
  const { connection, options } = lab.rig.client;
  const client = new Client({ connection, namespace: options.namespace, dataConverter, interceptors: { workflow } });
  labs = new LabOperations(client, { taskQueue: lab.rig.taskQueue, deadline: 'none' });
  const ingressUrl = await lab.startIngress(traced);
  await lab.sandbox.changeSettings({ webhookUrl: ingressUrl });
});
afterAll(async () => {
  await labs.close();
  await provider.shutdown();
  for (const api of [trace, context, propagation]) api.disable();
  await collector.close();
});

/** Waits for a span and returns it. */
async function spanOf(claim: (span: CollectedSpan) => boolean): Promise<CollectedSpan> {
  await expect.poll(() => collector.spans.some(claim), patience).toBe(true);
  return collector.spans.find(claim) as CollectedSpan;
}

async function parentOf({ parentSpanId }: CollectedSpan): Promise<CollectedSpan> {
  return spanOf(({ spanId }) => spanId === parentSpanId);
}

function attribute({ attributes = [] }: CollectedSpan, key: string): unknown {
  return attributes.find((each) => each.key === key)?.value;
}

const creationPath = 'POST /v3/order/testkit';

test('a trace leads from the client’s call through the activity to the call of the service', async () => {
  const down = { kind: 'answer', status: 503, body: { detail: 'Down, says Testperson' } } as const;
  await lab.sandbox.addFault({ method: 'POST', path: '/v3/order/testkit', times: 1, action: down });
  const order = kitFor(await lab.newUser(), reference, { creationTimeout: '15s', creationSettling: '20s' });
  const baggage = propagation.createBaggage({ user: { value: 'Testperson' } });
  handle = await context.with(propagation.setBaggage(context.active(), baggage), () => labs.orders.place(order));
  orderId = await handle.orderId();
  const created = await spanOf(({ name, status }) => name === creationPath && status?.code !== 2);
  const activity = await parentOf(created);
  expect(activity.name).toBe('RunActivity:createKitOrder');
  expect(attribute(activity, 'temporalWorkflowId')).toEqual({ stringValue: placeKitOrderId(reference) });
  const [started] = exporter.getFinishedSpans().filter(({ name }) => name.endsWith(':placeKitOrder'));
  expect([activity.traceId, activity.parentSpanId]).toEqual([
    started?.spanContext().traceId,
    started?.spanContext().spanId,
  ]);
  const failed = await spanOf(({ name, status }) => name === creationPath && status?.code === 2);
  expect([failed.traceId, attribute(failed, 'http.response.status_code')]).toEqual([
    created.traceId,
    { intValue: 503 },
  ]);
});

test('an update continues the trace of the call that sends it', async () => {
  await handle.register({ registration: registration((await lab.sandbox.order(orderId)).kit_sample_id ?? '') });
  const registered = await spanOf(({ name }) => name.endsWith('/register'));
  const [sent] = exporter.getFinishedSpans().filter(({ name }) => name === 'StartWorkflowUpdate:register');
  expect(registered.traceId).toBe(sent?.spanContext().traceId);
  expect((await parentOf(registered)).parentSpanId).toBe(sent?.spanContext().spanId);
});

test('a webhook begins a trace, which leads through its signal to the notification', async () => {
  await lab.sandbox.move(orderId, 'transit_customer');
  const isOfOrder = (span: CollectedSpan) =>
    String(JSON.stringify(attribute(span, 'temporalWorkflowId'))).includes(kitOrderId(orderId));
  const lineOf = (span: CollectedSpan): string[] => {
    const parent = collector.spans.find(({ spanId }) => spanId === span.parentSpanId);
    return [span.name, ...(parent ? lineOf(parent) : [])];
  };
  const lines = () =>
    collector.spans
      .filter(isOfOrder)
      .map((span) => lineOf(span).join(' < '))
      .join('\n');
  await expect.poll(lines, patience).toMatch(/RunActivity:notify < SignalWorkflow:orderChanged < webhook/);
});

test('no span has a text that could quote a person', () => {
  expect(JSON.stringify(collector.spans)).not.toMatch(personal);
  expect(
    collector.spans.filter(({ status, events = [] }) => status?.message !== undefined || events.length > 0),
  ).toEqual([]);
});

test('histories with traces are replayed', async () => {
  const workflowBundle = { codePath: inject('workflowBundlePath') };
  for (const workflowId of [placeKitOrderId(reference), kitOrderId(orderId)]) {
    const history = await lab.rig.client.workflow.getHandle(workflowId).fetchHistory();
    const passedOn = (history.events ?? []).map(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.header?.fields?.['_tracer-data']?.data,
    );
    const texts = passedOn.map((data) => Buffer.from(data ?? []).toString());
    expect(texts.join(' ')).toMatch(/"traceparent":"00-/);
    expect(texts.join(' '), 'a client’s baggage').not.toMatch(personal);
    for await (const { error } of replayed({ workflowBundle, dataConverter }, [{ workflowId, history }]))
      expect(error).toBeUndefined();
  }
});
