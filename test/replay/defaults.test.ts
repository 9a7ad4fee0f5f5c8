import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, type BundleOptions } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { describe, expect, test } from 'vitest';
import { appointmentSettings } from '../../protocol/appointment/policy.js';
import { deletionSettings } from '../../protocol/deletion/policy.js';
import { linkSettings } from '../../protocol/link/policy.js';
import { matchReviewSettings } from '../../protocol/match-review/policy.js';
import { orderSettings } from '../../protocol/order/policy.js';
import { reportSettings } from '../../protocol/report/policy.js';
import { resolveSettings } from '../../protocol/policy/resolution.js';
import { defaultsOf } from '../../protocol/policy/settings.js';
import { readHistory } from './history-file.js';
import { otherDefaults } from './other-defaults/other-defaults.js';
import { replay } from './replaying.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

/*
 * A release may change any default. In these histories every deadline of the default policies was met, so a default that is workflow code,
 * and changes, breaks at least one of them. Appointments' defaults break none, and neither do those of the results and of the reminders of a
 * critical result: what is due follows the timers of the history.
 */

const folder = new URL('histories/', import.meta.url);
const names = (await readdir(folder)).filter((name) => name.startsWith('deadlines-')).toSorted();

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Bundles workflows of a release in which every default is another one. */
async function bundled(workflows: string): Promise<{ code: string }> {
  const webpackConfigHook: NonNullable<BundleOptions['webpackConfigHook']> = (config) => {
    const rule = {
      test: /protocol\/[\w-]+\/policy\.ts$/,
      enforce: 'pre' as const,
      use: pathOf('other-defaults/loader.cjs'),
    };
    return { ...config, module: { ...config.module, rules: [...(config.module?.rules ?? []), rule] } };
  };
  return bundleWorkflowCode({
    workflowsPath: pathOf(workflows),
    // The replaying worker requires encryption, so payloads in clear reach the workflow marked.
    workflowInterceptorModules: [pathOf('../../workflows/interceptors.ts')],
    logger: new DefaultLogger('ERROR'),
    webpackConfigHook,
  });
}

async function failuresOf(histories: readonly string[], release: { code: string }): Promise<unknown[]> {
  const texts = await Promise.all(histories.map((name) => readFile(new URL(name, folder), 'utf8')));
  return replay(texts, readHistory, release);
}

describe('a release that changes every default at once', () => {
  test('changes nothing for what is under way', async () => {
    const release = await bundled('../../workflows');
    expect(names.length).toBeGreaterThan(15);
    expect(await failuresOf(names, release)).toEqual(names.map(() => undefined));
  });

  test('would break orders, links, reports, match reviews and deletions if their workflows read the defaults', async () => {
    const release = await bundled('other-defaults');
    const histories = [
      'deadlines-late-kit.json',
      'deadlines-link-without-code.json',
      'deadlines-link-with-wrong-codes.json',
      'deadlines-report-not-taken.json',
      'deadlines-late-review.json',
      'deadlines-user-deleted.json',
    ];
    const violation = expect.any(DeterminismViolationError) as unknown;
    expect(await failuresOf(histories, release)).toEqual(histories.map(() => violation));
  });
});

test('the changed release has another default for every setting, and each is valid', () => {
  const all = [orderSettings, linkSettings, reportSettings, appointmentSettings, deletionSettings, matchReviewSettings];
  for (const settings of all) {
    const changed = structuredClone({ ...settings, creationSettling: undefined });
    const { creationSettling: _, ...table } = changed;
    otherDefaults(table);
    const before = defaultsOf(settings) as Record<string, unknown>;
    const after = resolveSettings({ of: 'changed', version: 1, settings: table as never }, {}) as Record<
      string,
      unknown
    >;
    const resolved = resolveSettings({ of: 'usual', version: 1, settings }, {}) as Record<string, unknown>;
    for (const name of Object.keys(before)) expect(after[name], name).not.toEqual(resolved[name]);
  }
  expect(resolvePolicy('order').creationSettling).toBe(45_000);
});
