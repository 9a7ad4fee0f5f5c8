import type { Connection } from '@temporalio/client';
import type { NativeConnection, WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { code, hasCode } from '../../client/temporal-errors.js';

/** The release of this process, for Temporal's Worker Versioning. */
export interface DeploymentConfig {
  /** Names all releases of this deployment together. */
  deploymentName: string;
  /** Names this release; two builds with different code must not share it. */
  buildId: string;
}

/**
 * Every run stays on the release that began it (PINNED), so a release may change the order of its commands. A long-running workflow moves
 * to the next release by continuing as new (docs/internals/decisions/0017-a-run-stays-on-its-release.md).
 */
export function deploymentOptions(
  version: DeploymentConfig | undefined,
): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (!version) return {};
  return { workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' } };
}

/** Temporal gives work to the current release only. Without one everything waits, and nothing else says why. */
export async function warnWithoutCurrentRelease(
  connection: NativeConnection,
  namespace: string,
  { deploymentName, buildId }: DeploymentConfig,
  log: Logger,
): Promise<void> {
  if (await hasCurrentRelease(connection, namespace, deploymentName)) return;
  const command = currentReleaseCommand(namespace, { deploymentName, buildId });
  log.error(
    { deploymentName, buildId },
    `The deployment has no current version, so no worker gets new work. Once this worker polls, run: ${command}`,
  );
}

/** The command that makes a release the current one. */
export function currentReleaseCommand(namespace: string, { deploymentName, buildId }: DeploymentConfig): string {
  return `temporal worker deployment set-current-version --namespace ${namespace} --deployment-name ${deploymentName} --build-id ${buildId}`;
}

export async function hasCurrentRelease(
  connection: Pick<Connection, 'workflowService'>,
  namespace: string,
  deploymentName: string,
): Promise<boolean> {
  try {
    const { workerDeploymentInfo } = await connection.workflowService.describeWorkerDeployment({
      namespace,
      deploymentName,
    });
    const { currentVersion, currentDeploymentVersion } = workerDeploymentInfo?.routingConfig ?? {};
    return currentDeploymentVersion != null || (currentVersion ?? unversioned) !== unversioned;
  } catch (error) {
    // No worker of it has polled yet.
    if (hasCode(error, code.notFound)) return false;
    throw error;
  }
}

/** Temporal's name for the workers without a version. */
const unversioned = '__unversioned__';
