import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type Logger } from '@temporalio/worker';

/** A directory, because a path to an index.js that exists only as index.ts is not found. */
const workflowsPath = fileURLToPath(new URL('../workflows', import.meta.url));

/** Where `npm run build` puts the bundle: beside the compiled folders, in dist/. */
export const prebuiltBundlePath = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));

/** Bundles the workflows of this tree: TypeScript when it runs from the sources, JavaScript in dist/. Takes about 2 s. */
export async function bundleWorkflows(logger?: Logger): Promise<{ code: string }> {
  const { code } = await bundleWorkflowCode({ workflowsPath, ...(logger && { logger }) });
  return { code };
}

/**
 * What the worker runs: the bundle that was built together with the compiled code, else one made now. From the sources
 * it is always made now, because a bundle in dist/ may be older than they are.
 */
export async function workflowBundle(logger?: Logger): Promise<{ codePath: string } | { code: string }> {
  return existsSync(prebuiltBundlePath) ? { codePath: prebuiltBundlePath } : bundleWorkflows(logger);
}
