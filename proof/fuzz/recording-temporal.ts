import { Client, Connection } from '@temporalio/client';
import protobuf from '@temporalio/proto';

const { SignalWithStartWorkflowExecutionRequest } = protobuf.temporal.api.workflowservice.v1;

/** A request that starts a workflow with a signal, as Temporal would get it. */
export interface CaughtStart {
  workflowId: string;
  signalName: string;
  /** The signal's argument, read back from its payload. */
  argument: unknown;
  /** Everything of the request that Temporal would hold, as text: payloads as they are written, ids, search attributes. */
  text: string;
  /** The length of the longest search attribute, in bytes: Temporal refuses more than 2,048. */
  longestAttribute: number;
}

interface Payload {
  data?: Uint8Array | null;
}

type StartRequest = Parameters<typeof SignalWithStartWorkflowExecutionRequest.encode>[0];

const notFound = Object.assign(new Error('5 NOT_FOUND: no such workflow'), {
  code: 5,
  details: 'no such workflow',
  metadata: { get: () => [] },
});

/**
 * A Temporal client whose requests are made as usual, but not sent: no workflow runs yet, and every start is caught after the
 * SDK has written its payloads. A request that cannot be written as Protocol Buffers is an error, as it would be on the wire.
 */
export function recordingTemporal(caught: (start: CaughtStart) => void): Client {
  const workflowService = {
    signalWorkflowExecution: () => Promise.reject(notFound),
    describeWorkflowExecution: () => Promise.reject(notFound),
    signalWithStartWorkflowExecution: (request: StartRequest) => {
      const { length } = SignalWithStartWorkflowExecutionRequest.encode(request).finish();
      if (length > 4 * 1024 * 1024) throw new Error('A request of more than 4 MiB was made.');
      caught(startOf(request));
      return Promise.resolve({ runId: '00000000-0000-4000-8000-000000000000' });
    },
  };
  const lazy = Connection.lazy({ address: '127.0.0.1:1' });
  const connection = new Proxy(lazy, {
    get: (target, name) => (name === 'workflowService' ? workflowService : bound(target, name)),
  });
  return new Client({ connection });
}

function bound(target: Connection, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === 'function' ? (value.bind(target) as unknown) : value;
}

function startOf(request: StartRequest): CaughtStart {
  const [signalPayload] = textsOf(request.signalInput?.payloads);
  const attributes = textsOf(Object.values(request.searchAttributes?.indexedFields ?? {}));
  const metadata = textsOf([request.userMetadata?.summary ?? {}, request.userMetadata?.details ?? {}]);
  return {
    workflowId: request.workflowId ?? '',
    signalName: request.signalName ?? '',
    argument: JSON.parse(signalPayload ?? 'null') as unknown,
    text: [request.workflowId, signalPayload, ...textsOf(request.input?.payloads), ...attributes, ...metadata].join(
      '\n',
    ),
    longestAttribute: Math.max(0, ...attributes.map((text) => Buffer.byteLength(text))),
  };
}

function textsOf(payloads: readonly Payload[] | null | undefined): string[] {
  return (payloads ?? []).map(({ data }) => Buffer.from(data ?? []).toString());
}
