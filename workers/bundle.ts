import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type Logger } from '@temporalio/worker';
import { isBuilt, requireBuilt, StartFailed } from './process.js';
import { encodingFailureConverterPath } from './encryption.js';

/**
 * How the workflows of a bundle write failures: message and stack trace readable, or in a payload that the worker's codec
 * encrypts. The converter is a part of the bundle, so a worker with keys needs another one than a worker without
 * (docs/internals/decisions/0005-two-workflow-bundles.md).
 */
type FailureForm = (typeof failureForms)[number];
export const failureForms = ['readable', 'encoded'] as const;

/** A directory, because a path to an index.js that exists only as index.ts is not found. */
const workflowsPath = fileURLToPath(new URL('../workflows', import.meta.url));

/** The interceptors refuse events whose workflow task has not started and, if encryption is required, unencrypted input. */
const interceptorsPath = workflowFile('interceptors');

function workflowFile(name: string): string {
  return fileURLToPath(new URL(`../workflows/${name}.ts`, import.meta.url));
}

/** The files of dist/ that `npm run build` writes the bundles to. */
export const prebuiltNames = {
  readable: 'workflow-bundle.js',
  encoded: 'workflow-bundle-encoded-failures.js',
} as const satisfies Record<FailureForm, string>;

/**
 * Bundles the workflows from the sources, without their text, which nothing shows and every thread would hold. Takes about 2 s.
 *
 * @param from the folder of workflows
 */
export async function bundleWorkflows(
  failures: FailureForm,
  { logger, from = workflowsPath }: { logger?: Logger; from?: string } = {},
): Promise<{ code: string }> {
  requireBundlablePath(from);
  return bundleWorkflowCode({
    workflowsPath: from,
    workflowInterceptorModules: [interceptorsPath],
    // Evaluated once for each thread, and then shared by all of its workflows, which saves memory and CPU for each run
    // (docs/internals/performance.md). Nothing in them may change later, which test/unit/boundaries.test.ts checks.
    preloadModules: [workflowFile('preload'), from, interceptorsPath],
    webpackConfigHook: (config) => {
      for (const rule of config.module?.rules ?? []) if (isTypeScript(rule)) rule.use.options.jsc.target = 'es2022';
      return { ...config, devtool: 'inline-nosources-source-map' };
    },
    ...(failures === 'encoded' && { failureConverterPath: encodingFailureConverterPath }),
    ...(logger && { logger }),
  });
}

interface TypeScriptRule {
  use: { options: { jsc: { target: string } } };
}

/** The SDK's target is ES2017, in which each spread of an object is a call of a helper (docs/internals/performance.md). */
function isTypeScript(rule: unknown): rule is TypeScriptRule {
  return (rule as Partial<TypeScriptRule> | null)?.use?.options?.jsc !== undefined;
}

/** @throws StartFailed for a path in which webpack finds a loader or a query, and ends the process with its own error */
export function requireBundlablePath(path: string): void {
  const sign = ['!', '?'].find((each) => path.includes(each));
  if (sign === undefined) return;
  throw new StartFailed(
    `The workflows cannot be bundled in a folder whose path has a "${sign}": move the installation to another folder.`,
  );
}

/**
 * The worker's bundle: in dist/ the one that was built with it. From the sources it is always made now, because a bundle in dist/
 * may be older than they are.
 *
 * @throws StartFailed if dist/ has none
 */
export async function workflowBundle(
  failures: FailureForm,
  logger?: Logger,
): Promise<{ codePath: string } | { code: string }> {
  if (!isBuilt) return bundleWorkflows(failures, logger && { logger });
  return { codePath: requireBuilt(fileURLToPath(new URL(`../${prebuiltNames[failures]}`, import.meta.url))) };
}
