import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { ServiceConfig } from '../../../../service/http/http.js';
import { createLabService } from '../../../../service/lab-service.js';
import { answering, serviceAt } from '../recording-server.js';

const keyPrefixes = { team: 'sk_', management: 'mk_' };
const nested = { team: 'sk_', management: 'sk_m_' };

function created(config: Partial<ServiceConfig>): void {
  void createLabService({ baseUrl: 'http://127.0.0.1:1', apiKey: 'sk_invented', ...config }).close();
}

describe('a key of the wrong kind is refused before any request', () => {
  // proves 250
  test.each<[string, Partial<ServiceConfig>, string]>([
    ['if both are one', { apiKey: 'one', managementKey: 'one' }, 'apiKey must not be the management key'],
    ['if it is not set', { apiKey: undefined as never }, 'apiKey is missing'],
    ['as a team key', { apiKey: 'mk_invented', keyPrefixes }, 'apiKey begins as a management key does'],
    ['as a management key', { managementKey: 'sk_invented_2', keyPrefixes }, 'managementKey begins as a team key does'],
    ['if only the other prefix is known', { apiKey: 'mk_1', keyPrefixes: { management: 'mk_' } }, 'apiKey begins'],
    ['if it does not begin as it should', { apiKey: 'xx_1', keyPrefixes }, 'apiKey does not begin as a team key'],
    ['if one begins the other', { apiKey: 'sk_m_1', keyPrefixes: nested }, 'apiKey begins as a management key does'],
    ['if the prefixes are one', { keyPrefixes: { team: 'k', management: 'k' } }, 'keyPrefixes must differ'],
  ])('%s', (_how, config, said) => {
    expect(() => created(config)).toThrow(TypeError);
    expect(() => created(config)).toThrow(said);
  });

  // proves 250
  test('no refusal of a key repeats the key', () => {
    for (const apiKey of ['mk_very_secret', 'sk_very secret'])
      expect(() => created({ apiKey, keyPrefixes })).toThrow(/^apiKey (?!.*very)/);
  });

  // proves 250, 255
  test.each<Partial<ServiceConfig>>([
    { managementKey: 'mk_invented', keyPrefixes },
    { managementKey: 'sk_m_1', keyPrefixes: nested },
    { managementKey: 'anything' },
    { managementKey: 'anything', keyPrefixes: { team: 'sk_' } },
    { keyPrefixes: { team: '', management: '' } },
  ])('keys of the right kind are accepted, whatever they look like: %j', (config) => {
    expect(() => created(config)).not.toThrow();
  });
});

describe("the management key's deprecated header", () => {
  const place = { orgId: 'org-1', environment: 'sandbox', region: 'us' };

  // proves 247, 327
  test('replaces the other, with one warning for all calls', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: {} }));
    const warnings: string[] = [];
    const { management } = serviceAt(baseUrl, {
      managementKey: 'mk_1',
      managementBaseUrl: baseUrl,
      brand: 'Acme',
      deprecatedManagementHeader: true,
      warn: (warning) => warnings.push(warning),
    });
    await management.labAccounts.list(place);
    await management.labAccounts.list(place);
    for (const { headers } of requests) {
      expect(headers).toHaveProperty('x-acme-org-key', 'mk_1');
      expect(headers).not.toHaveProperty('x-management-key');
    }
    expect(requests).toHaveLength(2);
    expect(warnings).toEqual([
      'the header x-acme-org-key is deprecated: send X-Management-Key as soon as the deployment takes it',
    ]);
  });

  // proves 247, 327
  test('is warned about by the process if nobody else listens', async () => {
    const warned = once(process, 'warning');
    created({ managementKey: 'mk_1', deprecatedManagementHeader: true });
    expect(await warned).toMatchObject([{ name: 'DeprecationWarning', code: 'LABOPS_MANAGEMENT_HEADER' }]);
  });

  // proves 247
  test.each([{ deprecatedManagementHeader: true }, { managementKey: 'mk_1' }])(
    'is not warned of with %j alone',
    (config) => {
      created({ ...config, warn: (warning) => expect.unreachable(warning) });
    },
  );
});
