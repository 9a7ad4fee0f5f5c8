import type { Command } from 'commander';
import type { LinkHandle } from '../link/link-handle.js';
import type { LinkStart } from '../link/links.js';
import type { CodeAnswer, LinkState } from '../../protocol/link/messages.js';
import type { CommandLine } from './command-line.js';
import { CodeNotAccepted, UsageError } from './failures.js';
import { collect, readObject, readText, examples, withExample } from './input.js';
import { listCommand, ofLinks } from './lists.js';
import { attentionText, facts, line, moment, sections, timelineTable, words } from './output.js';

interface WhichLink {
  user: string;
  provider: string;
}

interface PageOptions {
  redirectUrl?: string;
  only?: string[];
  redirectErrors?: true;
  redirectClose?: true;
}

/** Links of users with providers. Only `url` prints credentials. */
export function linkCommands(program: Command, commandLine: CommandLine): void {
  const links = program.command('links').description('link users with the providers of their devices and apps');
  listCommand(links, commandLine, ofLinks);
  const onLink = (name: string, description: string): Command => linkCommand(links, name, description);

  startCommand(links, commandLine);
  urlCommand(links, commandLine);
  onLink('show', 'show the state of a link').action(async (which: WhichLink) =>
    commandLine.run(async ({ lab }) => show(commandLine, await (await lab.links.getHandle(idsOf(which))).state())),
  );
  onLink(
    'watch',
    'poll a link and print each state that differs from the one before, one per line, until it has ended',
  ).action(async (which: WhichLink) => commandLine.watch((lab) => lab.links.getHandle(idsOf(which)), linkLine));
  withExample(
    onLink('report-link-result', "report the answer that the user's browser got to the password step"),
    commandLine.terminal,
    examples.linkAnswer,
  )
    .requiredOption('--file <path>', 'the answer as JSON; - reads standard input')
    .action(async ({ file, ...which }: WhichLink & { file: string }) => {
      const answer = (await readObject(commandLine.terminal, file)) as Record<string, unknown>;
      await send(commandLine, which, (link) => link.reportLinkResult(answer));
    });
  onLink('submit-mfa-code', "send the user's code to the provider; prompts for it without showing it")
    .option('--stdin', 'read the code from standard input')
    .action(async ({ stdin, ...which }: WhichLink & { stdin?: true }) =>
      submitCode(commandLine, which, stdin === true),
    );
  onLink('cancel', 'end a link; a connection that the user still makes stays').action(async (which: WhichLink) =>
    send(commandLine, which, (link) => link.cancel()),
  );
}

function startCommand(links: Command, commandLine: CommandLine): void {
  linkCommand(links, 'start', 'start a link, or join the one already running')
    .option('--redirect-url <url>', 'the page that the user is sent to at the end')
    .option('--only <slug>', "offer this provider on the service's page; can be repeated (default: all)", collect)
    .option('--redirect-errors', 'send the user to the redirect URL after a failed login, too')
    .option('--redirect-close', 'send the user to the redirect URL after closing the page, too')
    .action(async ({ redirectUrl, only, redirectErrors, redirectClose, ...which }: WhichLink & PageOptions) =>
      commandLine.send(`The link may be started nevertheless: ${linkIs('cancel', which)} ends it`, async ({ lab }) => {
        const start: LinkStart = {
          ...idsOf(which),
          ...(redirectUrl !== undefined && { redirectUrl }),
          ...(only && { filterOnProviders: only }),
          ...(redirectErrors && { onError: 'redirect' }),
          ...(redirectClose && { onClose: 'redirect' }),
        };
        show(commandLine, await (await lab.links.start(start)).state());
      }),
    );
}

function urlCommand(links: Command, commandLine: CommandLine): void {
  linkCommand(links, 'url', "print the page and the token for the user's browser: both are credentials").action(
    async (which: WhichLink) =>
      commandLine.run(async ({ lab }) => {
        const url = await (await lab.links.getHandle(idsOf(which))).url();
        commandLine.print(url, () =>
          facts([
            ['Page', url.linkWebUrl],
            ['Token', url.linkToken],
            ['Expires', moment(url.expiresAt)],
          ]),
        );
      }),
  );
}

function linkCommand(links: Command, name: string, description: string): Command {
  return links
    .command(name)
    .description(description)
    .requiredOption('--user <user-id>', "the lab service's id of the user")
    .requiredOption(
      '--provider <slug>',
      "the lab service's name for the provider; `any`: the user chooses one on the service's page",
    );
}

async function send(
  commandLine: CommandLine,
  which: WhichLink,
  command: (handle: LinkHandle) => Promise<LinkState>,
): Promise<void> {
  await commandLine.send(mayHappen(which), async ({ lab }) =>
    show(commandLine, await command(await lab.links.getHandle(idsOf(which)))),
  );
}

function mayHappen(which: WhichLink): string {
  return `The command may be carried out nevertheless: ${linkIs('show', which)} shows the link`;
}

function linkIs(command: string, { user, provider }: WhichLink): string {
  return `\`labops links ${command} --user ${user} --provider ${provider}\``;
}

function show(commandLine: CommandLine, state: LinkState): void {
  commandLine.print(state, () => linkText(state));
}

/** A code on the command line would be in the shell's history, and shown to everybody on the machine. */
async function submitCode(commandLine: CommandLine, which: WhichLink, fromStdin: boolean): Promise<void> {
  const { terminal } = commandLine;
  if (!fromStdin && !terminal.canAsk)
    throw new UsageError('There is no terminal to prompt for the code: pass it with --stdin');
  const code = fromStdin ? await readText(terminal, '-') : await terminal.ask('Code: ', { hidden: true });
  await commandLine.send(mayHappen(which), async ({ lab }) => {
    const answer = await (await lab.links.getHandle(idsOf(which))).submitMfaCode({ code: code.replace(/\r?\n$/, '') });
    commandLine.print(answer, () =>
      sections(
        facts([
          ['Answer', words(answer.outcome)],
          ['Error', answer.errorType],
        ]),
        linkText(answer.state),
      ),
    );
    if (!goesOn.has(answer.outcome)) throw new CodeNotAccepted(`The code was not accepted: ${words(answer.outcome)}`);
  });
}

/** The provider took the code. */
const goesOn: ReadonlySet<CodeAnswer['outcome']> = new Set(['connected', 'confirming', 'asked_again']);

function idsOf({ user, provider }: WhichLink): { userId: string; provider: string } {
  return { userId: user, provider };
}

function linkText(state: LinkState): string {
  const { mfa, timeline, attention } = state;
  return sections(
    facts([
      ['User', state.userId],
      ['Provider', state.chosenProvider ?? state.provider],
      ['Phase', words(state.phase)],
      ['Until', moment(state.until)],
      ['Code by', mfa?.method],
      ['Code sent to', mfa?.hint],
      ['Code attempts left', mfa && state.codeAttemptsLeft],
      ['Last error', state.errorType],
      ['Next step', words(state.consequence ?? '')],
      ['Outcome', words(state.outcome ?? '')],
      ['Not done in time', state.waitedFor],
    ]),
    attentionText(attention),
    timelineTable(timeline),
  );
}

function linkLine({ timeline, phase, until, outcome }: LinkState): string {
  const last = timeline.at(-1);
  const rest = outcome === undefined && until !== undefined ? `until ${moment(until)}` : '';
  return line(moment(last?.at) ?? '', words(phase), last?.what ?? '', rest);
}
