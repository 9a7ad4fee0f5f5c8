import { defaultPayloadConverter } from '@temporalio/common';

/**
 * A workflow client that leaves out the memos of what it lists and describes: one that cannot be decrypted would hide all other
 * workflows. Only client/start-once.ts and activities/report/submissions.ts read a memo: the digest of what a reference was used for.
 */
export function withoutMemos<WorkflowClient extends object>(workflow: WorkflowClient): WorkflowClient {
  const nothing = defaultPayloadConverter.toPayload(undefined);
  const decode = async (payloads: readonly unknown[]) => payloads.map(() => nothing);
  const dataConverter = { payloadConverter: defaultPayloadConverter, payloadCodecs: [{ decode }] };
  return Object.create(workflow, { dataConverter: { value: dataConverter } }) as WorkflowClient;
}
