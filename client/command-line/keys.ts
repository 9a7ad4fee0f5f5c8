import type { Command } from 'commander';
import type { KeyUse } from '../encryption/key-use.js';
import { readKeyRing } from '../config.js';
import type { Standing } from './answers.js';
import type { CommandLine } from './command-line.js';
import { UsageError } from './failures.js';
import { moment, table } from './output.js';

/** Encryption keys. */
export function keyCommands(program: Command, commandLine: CommandLine): void {
  program
    .command('keys')
    .description('show which encryption keys are in use')
    .command('status')
    .description('read all histories of the namespace, and show which encryption keys they need, and until when')
    .action(async () => {
      const ring = (readKeyRing() ?? []).map(({ id }) => id);
      await commandLine.run(async ({ lab, progress }) => {
        progress.say('reading histories');
        const { keyUse } = await import('../encryption/key-use.js');
        const { connection, options } = lab.temporal;
        const { namespace } = options;
        const { keys, runs } = await keyUse({ connection, namespace }, ring);
        if (runs === 0)
          throw new UsageError(
            `Temporal's namespace ${namespace} has no history: set TEMPORAL_NAMESPACE to that of the workers.`,
          );
        const shown = keys.map((key) => ({ ...key, standing: standingOf(key, ring) }));
        commandLine.print(
          { keys: shown, runs },
          () => (shown.length === 0 ? 'Nothing is encrypted.' : textOf(shown)),
          shown,
        );
      }, 'endless');
    });
}

function standingOf({ keyId, open, ended }: KeyUse, ring: readonly string[]): Standing {
  if (!ring.includes(keyId)) return 'missing';
  if (keyId === ring[0]) return 'encrypts';
  return open + ended > 0 ? 'needed' : 'unneeded';
}

function textOf(keys: readonly (KeyUse & { standing: Standing })[]): string {
  return table(
    ['Key', 'Standing', 'Since', 'Last used', 'Open', 'Ended', 'Needed until', 'Some open workflows'],
    keys.map(({ keyId, standing, since, lastUsed, open, ended, neededUntil, openWorkflows }) => [
      ...[keyId, standing, moment(since), moment(lastUsed), open, ended],
      ...[
        standing === 'encrypts' ? undefined : moment(neededUntil),
        standing === 'encrypts' ? '' : openWorkflows.join(', '),
      ],
    ]),
  );
}
