import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import {
  bundleWorkflowCode,
  DefaultLogger,
  makeTelemetryFilterString,
  Runtime,
  Worker,
  type BundleOptions,
} from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { describe, expect, test } from 'vitest';
import { appointmentSettings } from '../../protocol/appointment/policy.js';
import { deletionSettings } from '../../protocol/deletion/policy.js';
import { linkSettings } from '../../protocol/link/policy.js';
import { matchReviewSettings } from '../../protocol/match-review/policy.js';
import { orderSettings, resolveOrderPolicy } from '../../protocol/order/policy.js';
import { reportSettings } from '../../protocol/report/policy.js';
import { resolveSettings } from '../../protocol/policy-resolution.js';
import { defaultsOf } from '../../protocol/policy-settings.js';
import { readHistory } from './history-file.js';
import { otherDefaults } from './other-defaults/other-defaults.js';

/*
 * A release may change any default. In these histories every deadline of the default policies was met, so a default that
 * is workflow code, and changes, breaks at least one of them. Appointments' defaults break none: what is due follows the
 * timers of the history, and an appointment counts nothing else.
 */

const quiet = { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) };
Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: quiet } });

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
    logger: new DefaultLogger('ERROR'),
    webpackConfigHook,
  });
}

async function failureOf(name: string, workflowBundle: { code: string }): Promise<unknown> {
  const text = await readFile(new URL(name, folder), 'utf8');
  const [, workflowId = ''] = /"workflowId":"([^"]+)"/.exec(text) ?? [];
  return Worker.runReplayHistory({ workflowBundle }, readHistory(text), workflowId).then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('a release that changes every default at once', () => {
  test('changes nothing for what is under way', async () => {
    const release = await bundled('../../workflows');
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) expect(await failureOf(name, release), name).toBeUndefined();
  });

  test('would break orders, links, reports, match reviews and deletions if their workflows read the defaults', async () => {
    const release = await bundled('other-defaults');
    const histories = [
      'deadlines-late-kit.json',
      'deadlines-unacknowledged-result.json',
      'deadlines-link-without-code.json',
      'deadlines-link-with-wrong-codes.json',
      'deadlines-report-not-taken.json',
      'deadlines-late-review.json',
      'deadlines-user-deleted.json',
    ];
    for (const name of histories) {
      expect(await failureOf(name, release), name).toBeInstanceOf(DeterminismViolationError);
    }
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
  expect(resolveOrderPolicy().creationSettling).toBe(45_000);
});
