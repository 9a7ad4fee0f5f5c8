import type { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import type { WebhookChange } from '../../../../protocol/operators/webhook-endpoints.js';
import { webhookActivities } from '../../../../activities/operators/webhook-endpoints.js';
import { answering, rejection, serviceAt, type Answer } from '../../service/recording-server.js';

const place = { orgId: 'org-1', teamId: 'team-1', environment: 'sandbox' };
const path = '/v1/org/org-1/team/team-1/sandbox/webhook';
const url = 'https://labs.example.com/webhooks';

/** Activities with a management API that answers as the test says, by method and path without the query. */
async function activitiesWith(
  answers: Record<string, Answer | (() => Answer)>,
  { encrypts = true, manages = true } = {},
) {
  const keyOf = ({ method, url: asked }: { method: string | undefined; url: string | undefined }) =>
    `${method} ${asked?.split('?')[0]?.replace(path, '')}`;
  const { baseUrl, requests } = await answering((request) => {
    const answer = answers[keyOf(request)] ?? { status: 404, body: { detail: 'Webhook not found' } };
    return typeof answer === 'function' ? answer() : answer;
  });
  const service = serviceAt(baseUrl, manages ? { managementKey: 'mk_invented' } : {});
  return { activities: webhookActivities({ service, encrypts }), asked: () => requests.map(keyOf), requests };
}

const list = (...urls: string[]): Answer => ({
  body: { data: urls.map((each, index) => ({ id: `ep_${index}`, url: each })), next_cursor: null },
});

describe('an endpoint is registered', () => {
  test('an endpoint is registered with its event types, if none has this address', async () => {
    const { activities, requests } = await activitiesWith({
      'GET ': list('https://other.example.com/'),
      'POST ': { body: { id: 'ep_new', url, filter_types: ['labtest.order.updated'] } },
    });
    expect(await activities.registerWebhook({ ...place, url, eventTypes: ['labtest.order.updated'] })).toEqual({
      created: true,
      endpoint: { id: 'ep_new', url, disabled: false, eventTypes: ['labtest.order.updated'] },
    });
    expect(requests.at(-1)?.body).toEqual({ url, filter_types: ['labtest.order.updated'] });
  });

  test.each([url, 'HTTPS://LABS.example.com:443/webhooks'])(
    'an endpoint is registered only once if %s is there, in whatever spelling',
    async (known) => {
      const { activities, asked } = await activitiesWith({ 'GET ': list('https://other.example.com/', known) });
      const registered = await activities.registerWebhook({ ...place, url, eventTypes: [] });
      expect(registered).toMatchObject({ created: false, endpoint: { id: 'ep_1' } });
      expect(asked()).toEqual(['GET ']);
    },
  );

  test('later if no answer arrived: the service may still be at work on it', async () => {
    const answer = { status: 503, headers: { 'retry-after': '1' }, body: {} };
    const { activities } = await activitiesWith({ 'GET ': list(), 'POST ': answer });
    const failure = await rejection(activities.registerWebhook({ ...place, url, eventTypes: [] }));
    expect(failure).toMatchObject({ type: 'ServiceUnavailable', nonRetryable: false, nextRetryDelay: 35_000 });
  });
});

describe('a secret', () => {
  const one = { ...place, webhookId: 'ep_1' };
  const old = 'whsec_b2xkb2xkb2xkb2xkb2xkb2xk';
  const given = 'whsec_bmV3bmV3bmV3bmV3bmV3bmV3';

  /** An endpoint with the old secret, which a rotation replaces by this one. */
  async function endpointThatRotatesTo(next: string) {
    let key = old;
    const rotate = () => {
      key = next;
      return { status: 204 };
    };
    const { activities, requests } = await activitiesWith({
      'GET /ep_1/secret': () => ({ body: { key } }),
      'POST /ep_1/secret/rotate': rotate,
    });
    return { activities, rotations: () => requests.filter(({ method }) => method === 'POST').map(({ body }) => body) };
  }

  test('is rotated once, and the new one is returned', async () => {
    const { activities, rotations } = await endpointThatRotatesTo(given);
    const before = await activities.fingerprintWebhookSecret(one);
    expect(before).not.toContain('b2xk');
    const rotated = { webhookId: 'ep_1', secret: given };
    // The second is the attempt after one whose answer was lost.
    for (let attempts = 0; attempts < 2; attempts += 1)
      expect(await activities.rotateWebhookSecret({ ...one, before })).toEqual(rotated);
    expect(rotations()).toHaveLength(1);
  });

  test.each([
    ['that the receiver knows already', given, given],
    ['though the service shows it with the padding that was left out', `${given}ZXI`, `${given}ZXI=`],
  ])('is replaced once by the one %s', async (_what, secret, shown) => {
    const { activities, rotations } = await endpointThatRotatesTo(shown);
    expect(await activities.rotateWebhookSecret({ ...one, secret })).toMatchObject({ secret: shown });
    expect(await activities.rotateWebhookSecret({ ...one, secret })).toMatchObject({ secret: shown });
    expect(rotations()).toEqual([{ key: secret }]);
  });

  test('is read again later if the service still shows the one from before', async () => {
    const { activities } = await endpointThatRotatesTo(old);
    const before = await activities.fingerprintWebhookSecret(one);
    for (const how of [{ before }, { secret: given }]) {
      const failure = await rejection(activities.rotateWebhookSecret({ ...one, ...how }));
      expect(failure).toMatchObject({ type: 'AnswerUnreadable', nonRetryable: false, nextRetryDelay: 35_000 });
    }
  });

  test('is not said to be the given one if the service has made one of its own', async () => {
    const { activities } = await endpointThatRotatesTo('whsec_b3dub3dub3dub3dub3dub3du');
    const failure = await rejection(activities.rotateWebhookSecret({ ...one, secret: given }));
    expect(failure).toMatchObject({ type: 'WebhookRefused', nonRetryable: true });
    expect(String(failure)).not.toContain('whsec_');
  });

  test('is neither read nor rotated if payloads are not encrypted', async () => {
    const { activities, asked } = await activitiesWith({}, { encrypts: false });
    expect(await activities.readWebhookSecret(one)).toEqual({});
    for (const refused of [
      activities.fingerprintWebhookSecret(one),
      activities.rotateWebhookSecret({ ...one, before: '' }),
      activities.registerWebhook({ ...place, url: `${url}?token=invented`, eventTypes: [] }),
      activities.updateWebhook({ ...one, url: `${url}?token=invented` }),
      activities.rotateWebhookSecret({ ...one, secret: given }),
      activities.readWebhookHeaders(one),
      activities.setWebhookHeaders({ ...one, headers: {} }),
    ]) {
      expect(await rejection(refused)).toMatchObject({ type: 'EncryptionRequired', nonRetryable: true });
    }
    expect(asked()).toEqual([]);
  });

  test('a secret in an address is shown only if payloads are encrypted', async () => {
    const signed = 'https://user:pass@labs.example.com/webhooks?token=invented';
    const shown = async (encrypts: boolean) => {
      const { activities } = await activitiesWith({ 'GET ': list(signed, url) }, { encrypts });
      return (await activities.listWebhooks(place)).map((endpoint) => endpoint.url);
    };
    expect(await shown(true)).toEqual([signed, url]);
    expect(await shown(false)).toEqual([url, url]);
  });
});

test('a change names only what is to change; no event types means all of them, no rate limit none', async () => {
  const one: Answer = { body: { id: 'ep_1', url } };
  const { activities, requests } = await activitiesWith({ 'PATCH /ep_1': one });
  const change = async (given: WebhookChange) => {
    await activities.updateWebhook({ ...place, webhookId: 'ep_1', ...given });
    return requests.findLast(({ method }) => method === 'PATCH')?.body;
  };
  expect(await change({ disabled: false })).toEqual({ disabled: false });
  expect(await change({ eventTypes: [], rateLimit: null })).toEqual({ filter_types: null, rate_limit: null });
  const all = { filter_types: ['a'], description: '', url };
  expect(await change({ eventTypes: ['a'], description: '', url })).toEqual(all);
});

describe('a failure', () => {
  test('says that the worker has no management key', async () => {
    const { activities, asked } = await activitiesWith({}, { manages: false });
    const failure = await rejection(activities.listWebhooks(place));
    expect(failure).toMatchObject({ type: 'ManagementKeyMissing', nonRetryable: true });
    expect((failure as ApplicationFailure).message).toContain('SERVICE_MANAGEMENT_KEY');
    expect(asked()).toEqual([]);
  });

  test.each([
    ['WebhookNotFound', { status: 404, body: { detail: 'Webhook not found' } }],
    ['WebhookRefused', { status: 422, body: { detail: 'no' } }],
    ['Unauthorized', { status: 403, body: { detail: 'The key is not bound to this team' } }],
  ] satisfies [string, Answer][])('is permanently %s after %j', async (type, answer) => {
    const { activities } = await activitiesWith({ 'GET /ep_1/secret': answer, 'GET ': answer });
    const failure = await rejection(activities.readWebhookSecret({ ...place, webhookId: 'ep_1' }));
    expect(failure).toMatchObject({ type, nonRetryable: true });
    // Without an endpoint it is the team that is unknown.
    const ofTeam = type === 'WebhookNotFound' ? 'WebhookRefused' : type;
    expect(await rejection(activities.listWebhooks(place))).toMatchObject({ type: ofTeam });
  });

  test('of a deletion does not occur if there is nothing to delete; after another attempt, that one may have deleted it', async () => {
    const { activities } = await activitiesWith({ 'DELETE /ep_1': { status: 204 } });
    const deleting = (webhookId: string, attempt: number) =>
      new MockActivityEnvironment({ attempt }).run(() => activities.deleteWebhook({ ...place, webhookId }));
    expect(await deleting('ep_1', 1)).toEqual({ webhookId: 'ep_1', deleted: true });
    expect(await deleting('ep_2', 1)).toEqual({ webhookId: 'ep_2', deleted: false });
    expect(await deleting('ep_2', 2)).toMatchObject({ deleted: true });
  });
});
