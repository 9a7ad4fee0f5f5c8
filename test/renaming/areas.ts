import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Renaming } from './wire-names.js';

const unit = (...names: string[]) => names.map((name) => `test/unit/service/${name}.test.ts`);

/**
 * The suite of each file's area: the tests that have to notice when a name in it changes, the likeliest first. They look
 * at raw requests and answers. Those that run against the sandbox are not among them: it shares schemas with service/, so that
 * a name that is wrong on both sides would still agree.
 */
const suites: Readonly<Record<string, readonly string[]>> = {
  'appointment-requests.ts': unit('appointments'),
  'appointment-snapshot.ts': ['test/unit/appointment/messages.test.ts', 'test/unit/appointment/case.test.ts'],
  'appointments.ts': unit('appointments', 'other-fields', 'events'),
  'country-codes.ts': unit('orders'),
  'events.ts': unit('events', 'health-data'),
  'health-data.ts': unit('health-data'),
  'http.ts': unit('http', 'refusals', 'users', 'orders', 'reports'),
  'keys.ts': unit('keys', 'http'),
  'lab-tests.ts': unit('lab-tests', 'fields', 'other-fields', 'users'),
  'link.ts': unit('fields', 'link'),
  'management-keys.ts': unit('management', 'other-fields'),
  'management-lab-accounts.ts': unit('management', 'other-fields'),
  'management-teams.ts': unit('management', 'other-fields'),
  'management-webhooks.ts': unit('management', 'other-fields'),
  'multipart.ts': unit('reports'),
  'order-requests.ts': unit('orders', 'order-requests', 'order-bodies'),
  'order.ts': unit('fields', 'other-fields', 'orders', 'order-snapshot'),
  'orders.ts': unit('orders', 'fields', 'other-fields'),
  'parsing-job.ts': unit('other-fields', 'reports', 'report-snapshot', 'events'),
  'portal.ts': unit('users', 'fields'),
  'refusals.ts': unit('refusals', 'http'),
  'report-snapshot.ts': unit('report-snapshot'),
  'reports.ts': unit('reports'),
  'results.ts': unit('orders', 'other-fields'),
  'source.ts': unit('health-data', 'users', 'events'),
  'team-api-keys.ts': unit('management', 'other-fields'),
  'timeseries.ts': unit('timeseries'),
  'users.ts': unit('users', 'fields', 'other-fields', 'user-deletion'),
  'webhook-signature.ts': ['test/unit/webhooks/signature.test.ts', 'test/unit/webhooks/handler.test.ts'],
};

/** Words that the rules take for the wire's and that nobody on it sees, with the reason. */
const ours: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'country-codes.ts': Object.fromEntries(['ZZ', 'XA', 'XB'].map((code) => [code, "Unicode's regions that are none"])),
  'events.ts': { order: 'the type that we give to an order without an envelope' },
  'http.ts': { connections: 'the name of a setting' },
  'keys.ts': { team: 'a kind of key, told apart by settings', management: 'a kind of key, told apart by settings' },
  'multipart.ts': { 'labops-': 'the boundary between the parts of a form: any text does' },
  'parsing-job.ts': { unreadable_results: 'our own count, added to what the service sent' },
  'report-snapshot.ts': {
    unreadable_results: 'our own count, added to what the service sent',
    unknown: 'our own word for what is not counted elsewhere',
    other: 'our own word in place of a sentence',
  },
  'timestamps.ts': { 'T00:00:00Z': 'a time of day for our own reckoning' },
  'validation.ts': { body: 'stands in a message for a place without a name' },
};

/** A file of service/ with names of the wire: renamed one at a time, its suite has to turn red. */
export interface Area {
  file: string;
  suite: readonly string[];
}

/** @throws where a file has names of the wire and nobody said which tests would notice */
export async function areasOf(root: string, namesIn: (file: string) => Promise<readonly Renaming[]>): Promise<Area[]> {
  const files = (await readdir(join(root, 'service'))).filter((name) => name.endsWith('.ts')).toSorted();
  const areas: Area[] = [];
  for (const file of files) {
    const suite = suites[file];
    if (suite !== undefined) areas.push({ file, suite });
    else if ((await namesIn(file)).some(({ name }) => !isOurs(file, name))) {
      throw new Error(`service/${file} has names of the wire: say in test/renaming/areas.ts which tests hold them`);
    }
  }
  return areas;
}

/** The names in a file that are left out, with the reason. */
export function oursIn(file: string): Readonly<Record<string, string>> {
  return ours[file] ?? {};
}

export function isOurs(file: string, name: string): boolean {
  return Object.hasOwn(oursIn(file), name);
}
