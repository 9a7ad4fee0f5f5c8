import { ServiceError, type Connection } from '@temporalio/client';
import Long from 'long';
import { expect, test } from 'vitest';
import { installations } from '../../workers/doctor/installations.js';
import type { Temporal } from '../../workers/doctor/server.js';
import { answering, type Answer } from './service/recording-server.js';

const day = 86_400_000;
const ids = { eight: '8b1f0c52-7d0e-4c35-9a52-0d6f4b1c2e08', nine: '8b1f0c52-7d0e-4c35-9a52-0d6f4b1c2e09' };
const order = (passthrough: string | null, more: object = {}) => ({
  ...{ id: ids.eight, passthrough, created_at: new Date().toISOString(), ...more },
});

interface Deployment {
  ours?: [string, ...string[]];
  /** The workflow IDs that the namespace retains, for ten days. */
  known?: readonly string[];
  answer?: Answer;
  echoesPassthrough?: boolean;
  connect?: () => Promise<Temporal>;
}

async function checked(orders: readonly object[], deployment: Deployment = {}) {
  const { ours = ['eu-1'], known = [], answer, echoesPassthrough = true } = deployment;
  const { baseUrl, requests } = await answering(() => answer ?? { body: { orders, total: 9_000, page: 1, size: 50 } });
  const asked: string[] = [];
  const { connect = () => Promise.resolve(namespaceWith(known, asked)) } = deployment;
  const service = { baseUrl, apiKey: 'sk_invented' };
  const verdict = await installations({ service, installation: ours, echoesPassthrough }, connect);
  return { ...verdict, asked, requests: requests.length };
}

function namespaceWith(known: readonly string[], asked: string[]): Temporal {
  const missing = Object.assign(new Error('5 NOT_FOUND'), { code: 5, details: 'not found', metadata: {} });
  const workflowService = {
    describeNamespace: () =>
      Promise.resolve({ config: { workflowExecutionRetentionTtl: { seconds: Long.fromNumber(864_000) } } }),
    describeWorkflowExecution: ({ execution: { workflowId } }: { execution: { workflowId: string } }) => {
      asked.push(workflowId);
      return known.includes(workflowId) ? Promise.resolve({}) : Promise.reject(missing);
    },
  };
  const connection = { workflowService, close: () => Promise.resolve() } as unknown as Connection;
  return { connection, address: '', namespace: 'labs' };
}

test('installations whose names are not ours are named once each, and former names of ours are not among them', async () => {
  const passthroughs = ['labops/us-1:-:a:1', 'labops/us-1:-:b:1', 'labops/qa:-:c:1', 'labops/eu:-:d:1', 'other', null];
  const orders = passthroughs.map((passthrough) => order(passthrough));
  expect(await checked(orders, { ours: ['eu-1', 'eu'], known: ['place-kit-order/d'] })).toMatchObject({
    status: 'warning',
    found: 'Another installation signs orders on this account: us-1, qa.',
    remedy: expect.stringMatching(/LABOPS_FORMER_INSTALLATIONS.*LABOPS_INSTALLATION.*account of its own/) as string,
  });
});

test.each([['eu-1'], ['eu']])(
  'an order that is signed with our name %s, and that this namespace has not placed, is a fault',
  async (name) => {
    const orders = [
      order(`labops/${name}:-:here:1`),
      order(`labops/${name}:-:there:1`, { id: ids.nine }),
      order('labops/us-1:-:c:1'),
    ];
    // The workflow that follows an order runs in every namespace that gets its webhooks.
    const known = ['place-kit-order/here', `kit-order/${ids.nine}`];
    expect(await checked(orders, { ours: ['eu-1', 'eu'], known })).toMatchObject({
      status: 'fault',
      found: `Order ${ids.nine} is signed with a name of this installation, but was not placed in the namespace labs.`,
      remedy: expect.stringMatching(/own LABOPS_INSTALLATION/) as string,
    });
  },
);

test('an order that no placing of this namespace need know is not asked for', async () => {
  const ours = 'labops/eu-1:-:a:1';
  const at = (days: number) => ({ created_at: new Date(Date.now() + days * day).toISOString() });
  const orders = [
    // Its placing may be past its retention, or its age is not known.
    ...[at(-11), at(-9), at(20_000), { created_at: null }].map((created) => order(ours, created)),
    // A replacement, and a redraw with a copy of the passthrough.
    order(`labops/eu-1:${ids.eight}:a:2`),
    order(ours, { origin: 'redraw', parent_id: ids.nine }),
  ];
  expect(await checked(orders)).toMatchObject({ status: 'ok', asked: [] });
});

test('one page of orders is read', async () => {
  const orders = Array.from({ length: 50 }, (_each, n) => order(`labops/eu-1:-:ref-${n}:1`));
  const known = orders.map((_each, n) => `place-kit-order/ref-${n}`);
  expect(await checked(orders, { known })).toMatchObject({ status: 'ok', requests: 1 });
});

const refuses = () => Promise.reject(new ServiceError('PERMISSION_DENIED'));
const refusing = {
  connection: { workflowService: { describeNamespace: refuses }, close: () => Promise.resolve() } as unknown,
  ...{ address: '', namespace: 'labs' },
} as Temporal;

const unreachable: [string, () => Promise<Temporal>][] = [
  ['refuses to answer', () => Promise.resolve(refusing)],
  ['cannot be reached', () => Promise.reject(new ServiceError('UNAVAILABLE'))],
];

test.each(unreachable)('while Temporal %s, only another name shows a second installation', async (_how, connect) => {
  expect(await checked([order('labops/eu-1:-:a:1')], { connect })).toMatchObject({ status: 'not_checked' });
  expect(await checked([order('labops/us-1:-:a:1')], { connect })).toMatchObject({ status: 'warning' });
});

test('nothing is checked if orders show no passthrough or cannot be listed', async () => {
  const foreign = [order('labops/us-1:-:a:1')];
  const unechoed = await checked(foreign, { echoesPassthrough: false });
  expect(unechoed).toMatchObject({ status: 'not_checked', requests: 0 });
  const answer = { status: 401, body: { detail: 'invented' } };
  expect(await checked(foreign, { answer })).toMatchObject({ status: 'not_checked' });
});
