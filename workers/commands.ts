import type { Command } from 'commander';
import { outputOption, type CommandLine } from '../client/command-line/command-line.js';
import { Ended, failureReport, UsageError } from '../client/command-line/failures.js';
import { collect, count, time } from '../client/command-line/input.js';
import type { AuditCommand } from './audit.js';
import { explain, statusOf } from './process.js';
import type { ResendOptions, SitesOptions } from './service-commands.js';

const asWorker = '\nSet what the worker is started with.';
const isoTime = (text: string): string => time(text).toISOString();

/**
 * The commands that read the worker's settings. Each is loaded only if it runs: together they take twice as long to start. They take none of
 * the program's options but those that they list themselves.
 */
export function workerCommands(program: Command, commandLine: CommandLine): void {
  const report = (error: unknown): void => {
    const text = commandLine.json ? JSON.stringify({ error: failureReport(error) }) : explain(error);
    commandLine.terminal.err(`${text}\n`);
  };
  const ends = async (work: () => Promise<number | void>): Promise<void> => {
    throw new Ended(await statusOf(work, report));
  };
  const add = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .configureHelp({ showGlobalOptions: false })
      .hook('preAction', (_area, { options }) => {
        const given = program.options.filter((each) => program.getOptionValueSource(each.attributeName()) === 'cli');
        const foreign = given.find(({ long }) => options.every((own) => own.long !== long));
        if (foreign)
          throw new UsageError(`\`labops ${name}\` reads the worker's settings, and takes no ${foreign.long}`);
      });

  add('doctor', "check a deployment and name each fault's remedy")
    .addOption(outputOption())
    .addHelpText(
      'after',
      `${asWorker}\nWEBHOOK_SECRETS adds the settings of the ingress, TEMPORAL_CODEC_ENDPOINT the codec server.`,
    )
    .action(() => ends(async () => (await import('./doctor.js')).doctor(commandLine)));
  add('replay', 'check that this build continues open workflows')
    .addOption(outputOption())
    .option('--open <number>', 'how many workflows to replay', count, 200)
    .addHelpText('after', asWorker)
    .action((options: { open: number }) =>
      ends(async () => (await import('./replay.js')).replay(options, commandLine)),
    );
  add('migrate', 'bring the tables of health data, and the rights of its roles, up to date')
    .addOption(outputOption())
    .addHelpText('after', '\nThe user of DATABASE_URL has to own the schema health_data, or be allowed to create it.')
    .action(() => ends(async () => (await import('./migrate.js')).migrate(commandLine)));
  serviceCommands(add('service', 'ask the lab service what concerns no person'), commandLine, ends);
  auditCommands(add('audit', 'list, export and verify the audit trail'), (name, command) =>
    ends(async () => (await import('./audit.js')).audit(name, command.optsWithGlobals(), command.args, commandLine)),
  );
}

function serviceCommands(
  service: Command,
  commandLine: CommandLine,
  ends: (work: () => Promise<void>) => Promise<void>,
): void {
  const add = (name: string, description: string): Command =>
    service.command(name).description(description).addOption(outputOption()).addHelpText('after', asWorker);
  const calls = async () => import('./service-commands.js');

  add('providers', 'list the providers that users can be linked with').action(() =>
    ends(async () => (await calls()).listProviders(commandLine)),
  );
  add('sites', 'list the service centres of a laboratory near a zip code')
    .requiredOption('--zip <code>', 'the zip code')
    .requiredOption('--lab <number>', "the lab service's number of the laboratory", count)
    .option('--radius <miles>', '10, 20, 25, 50 or 100', count, 25)
    .action((options: SitesOptions) => ends(async () => (await calls()).listSites(options, commandLine)));
  add('resend [order-id...]', 'have the latest webhook of each order delivered again: of these, or of a time')
    .option('--from <time>', 'of orders since this time, in ISO 8601', isoTime)
    .option('--to <time>', 'before this time, at most 60 days after it', isoTime)
    .action((orders: string[], options: ResendOptions) =>
      ends(async () => (await calls()).resendEvents(orders, options, commandLine)),
    );
}

function auditCommands(audit: Command, run: (name: AuditCommand, command: Command) => Promise<void>): void {
  const add = (name: AuditCommand, description: string): Command => {
    const command = audit.command(name).description(description).addOption(outputOption());
    return command
      .addHelpText('after', '\nSet DATABASE_URL (role lab_auditor) and AUDIT_KEYS.')
      .action(() => run(name, command));
  };
  const addReading = (name: AuditCommand, description: string): Command =>
    add(name, description)
      .option('--actor <id>', 'only what this one did')
      .option('--subject <id>', 'only what was about this user, or the workflow with this ID')
      .option('--from <time>', 'not before this time, in ISO 8601', isoTime)
      .option('--to <time>', 'before this time', isoTime);

  addReading('list', 'show what was done, the earliest first');
  addReading('export', 'print the rows as JSON, one a line').option('--fhir', 'as AuditEvents of FHIR R4');
  const reads = "add reads, each once: lines of LABOPS_READS_FILE, or of a file that a backend's onRead writes alike";
  add('import', reads).argument('<file>');
  const addVerifying = (name: AuditCommand, description: string): Command =>
    add(name, description).option(
      '--heads <file>',
      'what `heads` has printed, any number of times: finds rows that are missing at the end, and chains that were written again',
      collect,
    );
  addVerifying('verify', 'find rows that were changed, removed or inserted')
    .option(
      '--histories <time>',
      'first add the commands and starts since this time of the workflows of TASK_QUEUE that only Temporal has, as its settings and keys let it read',
      isoTime,
    )
    .option('--key <file>', 'the public key of RECEIPT_KEY, in PEM, if RECEIPT_KEY is not set');
  add('heads', 'print the end of each chain, signed with RECEIPT_KEY: keep it elsewhere');
  addVerifying(
    'remove',
    'verify, then remove old rows, as the user who owns the tables, and leave a checkpoint that is signed with RECEIPT_KEY',
  ).option('--years <number>', 'how many years are kept', count, 6);
}
