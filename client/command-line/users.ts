import { Option, type Command } from 'commander';
import type { DeleteUserInput, DeletionState } from '../../protocol/deletion/messages.js';
import type { OnRunningWork } from '../../protocol/deletion/policy.js';
import { shownId } from '../../protocol/ids.js';
import type { HealthDataReader } from '../../store/health-data-reader.js';
import { readDatabaseUrl } from '../config.js';
import { verifyReceipt } from '../user/receipt.js';
import type { CommandLine } from './command-line.js';
import { NotAllRead, UsageError } from './failures.js';
import { days, readText, textOf } from './input.js';
import { attentionText, facts, moment, sections, table, words } from './output.js';

interface ExportOptions {
  clientUserIdFile?: string;
}

interface DeleteOptions extends ExportOptions {
  graceDays?: number;
  runningWork?: OnRunningWork;
  yes?: true;
}

/** Deletion of users. Everything else about users is asked of the lab service itself, and so not here. */
export function userCommands(program: Command, commandLine: CommandLine): void {
  const users = program.command('users').description('delete users, and undo a deletion within its grace period');
  const show = (state: DeletionState): void => commandLine.print(state, () => deletionText(state));

  users
    .command('request-deletion <user-id>')
    .description('delete a user: connections at once, data after the grace period')
    .option('--grace-days <days>', 'for how many days the deletion can be undone, from 0.05 (72 minutes) to 7', days)
    .addOption(
      new Option(
        '--running-work <what>',
        'if orders, links, reports or appointments are running: refuse the deletion, cancel them, or leave them running (default: refuse)',
      ).choices(['refuse', 'cancel', 'leave']),
    )
    .option(
      '--client-user-id-file <path>',
      'a file with your client_user_id of the user: an undo then notices if a new user has taken it; - reads standard input',
    )
    .option('--yes', 'do not ask for a confirmation')
    .action(async (userId: string, options: DeleteOptions) => {
      const input = await deletionOf(commandLine, userId, options);
      await commandLine.confirm(`User ${userId} will be deleted.`, options.yes === true);
      const goesOn = `The user may be deleted nevertheless: \`labops users undo ${userId}\` restores them within the grace period`;
      await commandLine.send(goesOn, async ({ lab }) => {
        const deletion = await lab.users.requestDeletion(input);
        show(deletion.requested ?? (await deletion.state()));
      });
    });
  users
    .command('show <user-id>')
    .description("show the state of a user's latest deletion")
    .action(async (userId: string) =>
      commandLine.run(async ({ lab }) => show(await (await lab.users.getDeletionHandle({ userId })).state())),
    );
  receiptCommands(users, commandLine);
  users
    .command('export <user-id>')
    .description('print all that Temporal, and the database of DATABASE_URL, hold of a user: JSON, one object a line')
    .option(
      '--client-user-id-file <path>',
      'a file with your client_user_id of the user, by which rejected events may name the user alone; - reads standard input',
    )
    .action((userId: string, { clientUserIdFile }: ExportOptions) => exportUser(commandLine, userId, clientUserIdFile));
  users
    .command('undo <user-id>')
    .description('restore a user within the grace period; connections must be made again')
    .action(async (userId: string) =>
      commandLine.send(
        `The user may be restored nevertheless: \`labops users show ${userId}\` shows the deletion`,
        async ({ lab }) => show(await (await lab.users.getDeletionHandle({ userId })).undo()),
      ),
    );
}

async function exportUser(commandLine: CommandLine, userId: string, path: string | undefined): Promise<void> {
  const databaseUrl = readDatabaseUrl();
  const clientUserId = await referenceIn(commandLine, path);
  const database = databaseUrl === undefined ? undefined : await healthDataIn(databaseUrl);
  let lines = 0;
  const print = (line: object): void => {
    commandLine.printLine(line, () => JSON.stringify(line));
    lines += 1;
  };
  try {
    await commandLine.run(async ({ lab }) => {
      let unread = 0;
      const ids: string[] = [];
      for await (const work of lab.users.export(userId)) {
        print(work);
        ids.push(...work.ids);
        if (work.stateUnread !== undefined) unread += 1;
      }
      if (database) for await (const row of database.export(userId, { workIds: ids, clientUserId })) print(row);
      else print({ kind: 'left_out', what: 'health data and rejected events', why: 'DATABASE_URL is not set' });
      if (lines === 0) commandLine.note(`Nothing is held of user ${shownId(userId)}.`);
      if (unread > 0) throw new NotAllRead(`The state of ${unread} workflows could not be read: stateUnread says why`);
    }, 'endless');
  } finally {
    await database?.close();
  }
}

/** Needs the package pg, which other commands do without. */
async function healthDataIn(databaseUrl: string): Promise<HealthDataReader> {
  const { openHealthData } = await import('../../store/health-data-reader.js').catch((error: unknown) => {
    if (!(error instanceof Error) || !error.message.includes("'pg'")) throw error;
    throw new UsageError('DATABASE_URL is set, and the package pg, which reads it, is not installed: npm install pg');
  });
  return openHealthData({ databaseUrl, poolSize: 1 });
}

function receiptCommands(users: Command, commandLine: CommandLine): void {
  users
    .command('receipt <user-id>')
    .description('print the signed receipt of a final deletion, a compact JWS')
    .action(async (userId: string) =>
      commandLine.run(async ({ lab }) => {
        const receipt = await (await lab.users.getDeletionHandle({ userId })).receipt();
        commandLine.print({ receipt }, () => receipt);
      }),
    );
  users
    .command('verify-receipt <file>')
    .description('verify a receipt offline, and show what it says; - reads standard input')
    .requiredOption('--key <path>', "the public key in PEM: openssl pkey -in <the worker's key> -pubout")
    .action(async (file: string, { key }: { key: string }) => {
      const { terminal } = commandLine;
      const receipt = verifyReceipt(await readText(terminal, file), await readText(terminal, key));
      commandLine.print(receipt, () => JSON.stringify(receipt, undefined, 2));
    });
}

async function deletionOf(
  commandLine: CommandLine,
  userId: string,
  { graceDays, runningWork, clientUserIdFile: path }: DeleteOptions,
): Promise<DeleteUserInput> {
  const clientUserId = await referenceIn(commandLine, path);
  return {
    userId,
    ...(clientUserId !== undefined && { clientUserId }),
    policy: {
      ...(graceDays !== undefined && { grace: `${graceDays}d` as const }),
      ...(runningWork !== undefined && { onRunningWork: runningWork }),
    },
  };
}

async function referenceIn({ terminal }: CommandLine, path: string | undefined): Promise<string | undefined> {
  const reference = await textOf(terminal, path);
  if (reference === '') throw new UsageError('The file of --client-user-id-file is empty');
  return reference;
}

function deletionText(state: DeletionState): string {
  const { work, undo, attention, histories } = state;
  return sections(
    facts([
      ['User', state.userId],
      ['Phase', words(state.phase)],
      ['Requested', moment(state.requestedAt)],
      ['Requested by', state.requestedBy],
      ['Scheduled', moment(state.scheduledAt)],
      ['Can be undone until', state.outcome === undefined ? moment(state.graceUntil) : undefined],
      ['Was already scheduled', state.scheduledBefore],
      ['Connections', state.connections?.join(', ')],
      ['Undone by', undo?.undoneBy],
      ['Restored', undo?.restored.join(', ')],
      ['Not restored', undo?.notRestored.join(', ')],
      ['Histories erased', histories === 'kept' ? 'no: ERASE_HISTORIES=false' : histories?.erased.length],
      ['Outcome', words(state.outcome ?? '')],
      ['Failure', state.failure],
      ['Ended', moment(state.endedAt)],
    ]),
    attentionText(attention),
    work.length === 0
      ? undefined
      : table(
          ['Running work', 'Result', 'Reason'],
          work.map(({ workflowId, fate, reason }) => [
            ...[workflowId, state.outcome === 'running_work' ? 'running; nothing was deleted' : words(fate), reason],
          ]),
        ),
    histories === undefined || histories === 'kept' || histories.left.length === 0
      ? undefined
      : table(
          ['History left', 'Because'],
          histories.left.map(({ workflowId, because }) => [workflowId, words(because)]),
        ),
  );
}
