import { expect, test } from 'vitest';
import { Screen } from '../../../sandbox/demo/screen.js';
import type { Servers } from '../../../sandbox/demo/servers.js';
import { showAddresses } from '../../../sandbox/demo/summary.js';

test('the demo shows how to use Temporal and the stand-in of the lab service from a shell', () => {
  const shown: string[] = [];
  const stream = { isTTY: false, write: (text: string) => shown.push(text) > 0 };
  const servers = {
    temporalAddress: '127.0.0.1:7233',
    encryptionKeys: 'demo:invented',
    sandboxUrl: 'http://127.0.0.1:4010',
    serviceApiKey: 'sk_invented',
  };
  showAddresses(servers as Servers, 'order-1', '/logs', new Screen(stream as unknown as NodeJS.WriteStream));
  const exported = shown.filter((line) => line.startsWith('export '));
  expect(exported.flatMap((line) => line.trim().split(' ').slice(1))).toEqual([
    'TEMPORAL_ADDRESS=127.0.0.1:7233',
    'LABOPS_ENCRYPTION_KEYS=demo:invented',
    'SERVICE_BASE_URL=http://127.0.0.1:4010',
    'SERVICE_API_KEY=sk_invented',
  ]);
});
