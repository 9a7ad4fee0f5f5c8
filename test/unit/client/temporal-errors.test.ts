import { ServiceError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { expect, test } from 'vitest';
import { temporalErrorOf } from '../../../client/temporal-errors.js';

const endpoint = { address: 'temporal.example:7233', namespace: 'labs' };

/** As Temporal's client rejects: gRPC's error is the cause of its own. */
function grpcError(code: number, details: string): ServiceError {
  const cause = Object.assign(new Error(`${code} ${details}`), { code, details, metadata: {} });
  return new ServiceError('Failed to start Workflow', { cause });
}

const notReached = /^Temporal cannot be reached at temporal\.example:7233 .+TEMPORAL_ADDRESS/;
const unsafe = /check TEMPORAL_TLS and the certificates/;

test.each<[string, number, RegExp, string?]>([
  ['connect ECONNREFUSED', 14, notReached],
  ['Last error: SSL routines:wrong version number', 14, unsafe],
  ['self-signed certificate', 14, unsafe],
  ['Request unauthorized.', 7, /refuses the credentials .+TEMPORAL_API_KEY .+namespace labs/, 'TemporalRefused'],
  ['no token', 16, /refuses the credentials .+TEMPORAL_API_KEY/, 'TemporalRefused'],
  ['namespace rate limit exceeded', 8, /is too busy .+call again later/],
  ['Namespace labs is not found.', 5, /has no namespace labs: .+TEMPORAL_NAMESPACE/, 'TemporalRefused'],
  [
    'search attribute A is not defined',
    3,
    /not registered in the namespace labs .+start the worker/,
    'TemporalRefused',
  ],
  ['Workflow task in failed state', 9, /read its log/, 'WorkerFailing'],
  ['BlobSizeLimit exceeded', 3, /^Temporal refuses the call \(BlobSizeLimit exceeded\)/, 'TemporalRefused'],
])('%s (gRPC %i): %s', (details, code, message, name = 'TemporalUnreachable') => {
  const rejection = grpcError(code, details);
  const error = temporalErrorOf(rejection, endpoint);
  expect(error).toMatchObject({ name, cause: rejection });
  expect(error?.message).toMatch(message);
});

test('a namespace that the SDK itself does not find is named', () => {
  const error = temporalErrorOf(new NamespaceNotFoundError('labs'), endpoint);
  expect(error?.message).toMatch(/^Temporal at temporal\.example:7233 has no namespace labs: /);
});

test.each([new TypeError('a fault of ours'), 'text', undefined])('%s is not about Temporal', (error) => {
  expect(temporalErrorOf(error, endpoint)).toBeUndefined();
});
