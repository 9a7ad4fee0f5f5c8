import type { Command } from 'commander';
import type { CancelledSubmission, ReportHandle } from '../report/report-handle.js';
import type { ReportSubmission } from '../report/reports.js';
import type { ReportState } from '../../protocol/report/messages.js';
import type { CommandLine } from './command-line.js';
import { UsageError } from './failures.js';
import { readObject, examples, withExample } from './input.js';
import { listCommand, ofReports } from './lists.js';
import { attentionText, facts, line, moment, sections, table, waiting, words } from './output.js';

interface ReferenceOption {
  reference?: string;
}

/** Lab reports. Biomarkers are never in Temporal, and so not here. */
export function reportCommands(program: Command, commandLine: CommandLine): void {
  const reports = program.command('reports').description('submit and follow lab reports');
  const onReport = (name: string, description: string) =>
    reports
      .command(`${name} [job-id]`)
      .description(description)
      .option('--reference <reference>', "identify the report by your reference instead of its parsing job's id");
  const answer =
    (
      which: WhichReport,
      ask: (report: ReportHandle) => Promise<ReportState | CancelledSubmission>,
    ): Parameters<CommandLine['run']>[0] =>
    async ({ lab }) => {
      const state = await ask(await lab.reports.getHandle(which));
      commandLine.print(state, () => ('jobId' in state ? reportText(state) : cancelledText(state)));
    };

  listCommand(reports, commandLine, ofReports);
  submitCommand(reports, commandLine);
  onReport('show', 'show the state of a report, with how many biomarkers were read').action(
    async (jobId: string | undefined, { reference }: ReferenceOption) =>
      commandLine.run(answer(whichReport(jobId, reference), (report) => report.state())),
  );
  onReport(
    'watch',
    'poll a report and print each state that differs from the one before, one per line, until it has ended',
  ).action(async (jobId: string | undefined, { reference }: ReferenceOption) => {
    const which = whichReport(jobId, reference);
    await commandLine.watch((lab) => lab.reports.getHandle(which), reportLine);
  });
  onReport('cancel', 'stop an upload, or stop following a report that the lab service will still read').action(
    async (jobId: string | undefined, { reference }: ReferenceOption) => {
      const which = whichReport(jobId, reference);
      const named = jobId ?? `--reference ${reference}`;
      await commandLine.send(
        `The report may be cancelled nevertheless: \`labops reports show ${named}\` shows it`,
        answer(which, (report) => report.cancel()),
      );
    },
  );
}

function submitCommand(reports: Command, commandLine: CommandLine): void {
  withExample(reports.command('submit'), commandLine.terminal, examples.report)
    .description('submit a report, once for its reference, and wait until the worker has uploaded it')
    .requiredOption(
      '--file <path>',
      'the submission as JSON: reference, userId, file, needsHumanReview, policy; - reads standard input',
    )
    .option('--no-wait', 'return as soon as the upload is started')
    .action(async ({ file, wait }: { file: string; wait: boolean }) => {
      const submission = (await readObject(commandLine.terminal, file)) as ReportSubmission;
      const { reference } = submission;
      await commandLine.send(
        `The report may be uploaded nevertheless: \`labops reports cancel --reference ${reference}\` cancels it`,
        async ({ lab, progress }) => {
          const report = await lab.reports.submit(submission);
          if (!wait) {
            commandLine.print({ reference }, () => `The report with the reference ${reference} is being uploaded.`);
            return;
          }
          progress.say(`uploading ${reference}`);
          const jobId = await report.jobId();
          commandLine.print({ reference, jobId }, () => `Uploaded as parsing job ${jobId}, reference ${reference}.`);
        },
        wait ? 'endless' : undefined,
      );
    });
}

type WhichReport = { jobId: string } | { reference: string };

function whichReport(jobId: string | undefined, reference: string | undefined): WhichReport {
  if (jobId !== undefined && reference === undefined) return { jobId };
  if (jobId === undefined && reference !== undefined) return { reference };
  throw new UsageError("Give one report: its parsing job's id, or --reference");
}

function cancelledText({ reference, lostUploads }: CancelledSubmission): string {
  const lost =
    lostUploads.length > 0
      ? ' The answer to an earlier upload was lost, so the lab service may still read the file.'
      : '';
  return `The submission ${reference} was cancelled; nothing more is uploaded.${lost}`;
}

function reportText(state: ReportState): string {
  const { counts, failure, attention, timeline } = state;
  return sections(
    facts([
      ['Parsing job', state.jobId],
      ['Reference', state.reference],
      ['User', state.userId],
      ['Phase', words(state.phase)],
      ['Status', state.status],
      ['Reviewed', state.isReviewed],
      ['Waits for', state.outcome === undefined ? waiting(state.waiting) : undefined],
      ['Outcome', words(state.outcome ?? '')],
      ['Failure', failure?.sentence],
      ['Superseded by', state.supersededBy],
      ['Biomarkers', counts?.results],
      ['Above their range', counts?.aboveRange],
      ['Below their range', counts?.belowRange],
    ]),
    attentionText(attention),
    table(
      ['When', 'Status', 'Reviewed'],
      timeline.map(({ at, status, isReviewed }) => [moment(at), status, isReviewed]),
    ),
  );
}

function reportLine({ timeline, phase, status, outcome, waiting: wait }: ReportState): string {
  const end = outcome === undefined ? `waits for ${waiting(wait)}` : `ended: ${words(outcome)}`;
  return line(moment(timeline.at(-1)?.at) ?? '', words(phase), status, end);
}
