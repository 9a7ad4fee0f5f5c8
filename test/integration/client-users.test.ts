import { Client, Connection } from '@temporalio/client';
import { expect, onTestFinished, test } from 'vitest';
import { LabOperations, NotFound, ServiceRefused, type UserOperations } from '../../client/index.js';
import { sandboxApiKey, startSandbox } from './sandbox-rig.js';

/** Users of the stand-in through the client; Temporal is not asked. */
async function operations(): Promise<UserOperations> {
  const { service } = await startSandbox();
  const temporal = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });
  const lab = new LabOperations(temporal, { service: { baseUrl: service.url, apiKey: sandboxApiKey } });
  onTestFinished(() => lab.close());
  return lab.users;
}

const demographics = {
  first_name: 'Testperson',
  last_name: 'Invented',
  email: 'testperson@example.com',
  phone_number: '+12025550123',
  gender: 'female',
  dob: '1990-01-01',
  address: { first_line: '1 Invented Street', city: 'Springfield', state: 'IL', zip: '62701', country: 'US' },
};

test('a backend needs one import for a user’s whole life', async () => {
  const users = await operations();
  const { user, created } = await users.createOrGet({ client_user_id: 'client 1' });
  expect(created).toBe(true);
  const again = await users.createOrGet({ client_user_id: 'client 1' });
  expect(again).toMatchObject({ created: false, user: { user_id: user.user_id } });
  expect(await users.get(user.user_id)).toMatchObject({ client_user_id: 'client 1' });
  expect(await users.resolve('client 1')).toMatchObject({ user_id: user.user_id });

  await expect(users.demographics(user.user_id)).rejects.toBeInstanceOf(NotFound);
  await expect(users.portalLink(user.user_id, { context: 'launch' })).rejects.toMatchObject({
    name: ServiceRefused.name,
    status: 422,
  });
  await users.setDemographics(user.user_id, demographics);
  expect(await users.demographics(user.user_id)).toMatchObject({ first_name: 'Testperson' });
  const { url, expires_in: seconds } = await users.portalLink(user.user_id, { context: 'launch' });
  expect(url).toMatch(/^https:/);
  expect(seconds).toBeGreaterThan(0);

  await users.update(user.user_id, { client_user_id: 'client 2' });
  const ids = [];
  for await (const each of users.list({ pageSize: 1 })) ids.push(each.client_user_id);
  expect(ids).toEqual(['client 2']);
});
