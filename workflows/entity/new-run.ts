import { makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';

/**
 * True if the history is long, or if there is a later release of the worker: a run stays on the release that began it
 * (docs/decisions/0017-a-run-stays-on-its-release.md). Servers before 1.31 do not say so.
 */
export function isNewRunSuggested(): boolean {
  const { continueAsNewSuggested, targetWorkerDeploymentVersionChanged } = workflowInfo();
  return continueAsNewSuggested || targetWorkerDeploymentVersionChanged;
}

/** Ends this run and begins the next one, on the current release. Never returns. */
export async function continueInNewRun(input: object, workflowType?: string): Promise<never> {
  const options = {
    initialVersioningBehavior: 'AUTO_UPGRADE',
    ...(workflowType !== undefined && { workflowType }),
  } as const;
  return makeContinueAsNewFunc<(input: object) => Promise<unknown>>(options)(input);
}
