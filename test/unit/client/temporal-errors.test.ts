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

test.each([
  [
    'connect ECONNREFUSED',
    14,
    'TemporalUnreachable',
    /^Temporal cannot be reached at temporal\.example:7233 .+TEMPORAL_ADDRESS/,
  ],
  [
    'Last error: SSL routines:wrong version number',
    14,
    'TemporalUnreachable',
    /check TEMPORAL_TLS and the certificates/,
  ],
  ['self-signed certificate', 14, 'TemporalUnreachable', /check TEMPORAL_TLS and the certificates/],
  ['Request unauthorized.', 7, 'TemporalUnreachable', /refuses the credentials .+TEMPORAL_API_KEY .+namespace labs/],
  ['no token', 16, 'TemporalUnreachable', /refuses the credentials .+TEMPORAL_API_KEY/],
  ['namespace rate limit exceeded', 8, 'TemporalUnreachable', /is too busy .+call again later/],
  ['Namespace labs is not found.', 5, 'TemporalUnreachable', /has no namespace labs: .+TEMPORAL_NAMESPACE/],
  [
    'search attribute LabPhase is not defined',
    3,
    'TemporalRefused',
    /not registered in the namespace labs .+start the worker/,
  ],
  ['Workflow task in failed state', 9, 'WorkerFailing', /read its log/],
  ['BlobSizeLimit exceeded', 3, 'TemporalRefused', /^Temporal refuses the call \(BlobSizeLimit exceeded\)/],
])('%s (gRPC %i) is %s', (details, code, name, message) => {
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
