import { Option, type Command } from 'commander';
import type { WebhookPlace } from '../../service/management/webhooks.js';
import type { WebhookChange, WebhookEndpoint } from '../../protocol/operators/webhook-endpoints.js';
import type { LabOperations } from '../lab-operations.js';
import type { CommandLine, Patience } from './command-line.js';
import { collect, count, readObject, readText, examples, withExample } from './input.js';
import { facts, moment, sections, table } from './output.js';

interface RegisterOptions extends WebhookPlace {
  url: string;
  eventType?: string[];
  showSecret?: true;
}

interface UpdateOptions extends WebhookPlace {
  url?: string;
  eventType?: string[];
  allEvents?: true;
  description?: string;
  rateLimit?: number;
  unlimited?: true;
  disable?: true;
}

interface RotateOptions extends WebhookPlace {
  secretFile?: string;
  showSecret?: true;
}

/** As long as such a command may run: it may wait for another one before it. */
const patience: Patience = '10m';

const mayHappen = 'The command may be carried out nevertheless: `labops webhooks list` shows the endpoints';

interface Area {
  commandLine: CommandLine;
  /** A command for the endpoints of one team. */
  ofTeam: (name: string, description: string) => Command;
  read: (work: (webhooks: LabOperations['webhooks']) => Promise<void>) => Promise<void>;
  send: (work: (webhooks: LabOperations['webhooks']) => Promise<void>) => Promise<void>;
  show: (endpoint: WebhookEndpoint) => void;
}

/** The endpoints to which the lab service delivers a team's events. Needs a worker with a management key. */
export function webhookCommands(program: Command, commandLine: CommandLine): void {
  const webhooks = program.command('webhooks').description("manage the endpoints for a team's events");
  const required = (flags: string, description: string, variable: string) =>
    new Option(flags, description).env(variable).makeOptionMandatory();
  const ofTeam: Area['ofTeam'] = (name, description) =>
    webhooks
      .command(name)
      .description(description)
      .addOption(required('--org-id <id>', 'the organisation, as the lab service names it', 'LABOPS_ORG_ID'))
      .addOption(required('--team-id <id>', 'the team, as the lab service names it', 'LABOPS_TEAM_ID'))
      .addOption(
        required('--environment <name>', 'the environment of the team', 'LABOPS_ENVIRONMENT').choices([
          'production',
          'sandbox',
        ]),
      );
  const area: Area = {
    commandLine,
    ofTeam,
    read: (work) => commandLine.run(({ lab }) => work(lab.webhooks), patience),
    send: (work) => commandLine.send(mayHappen, ({ lab }) => work(lab.webhooks), patience),
    show: (endpoint) => commandLine.print(endpoint, () => facts(endpointFacts(endpoint))),
  };
  readingCommands(area);
  registerCommand(area);
  changingCommands(area);
  headerCommands(area);
  rotateCommand(area);
  deleteCommand(area);
}

function readingCommands({ ofTeam, read, show, commandLine }: Area): void {
  ofTeam('list', "list a team's endpoints").action(async (place: WebhookPlace) =>
    read(async (webhooks) => {
      const endpoints = await webhooks.readAll(place);
      commandLine.print({ endpoints }, () => endpointTable(endpoints), endpoints);
    }),
  );
  ofTeam('show <webhook-id>', 'show an endpoint').action(async (webhookId: string, place: WebhookPlace) =>
    read(async (webhooks) => show(await webhooks.read(place, webhookId))),
  );
}

function registerCommand({ ofTeam, send, commandLine }: Area): void {
  ofTeam('register', 'register an endpoint; an existing one for the address stays as it is')
    .requiredOption('--url <url>', 'the address of the ingress, such as https://labs.example.com/webhooks')
    .option('--event-type <type>', 'only events of this type; can be repeated (default: all)', collect)
    .option('--show-secret', "print the signing secret, which belongs in the ingress's WEBHOOK_SECRETS")
    .action(async ({ url, eventType, showSecret, ...place }: RegisterOptions) =>
      send(async (webhooks) => {
        const { secret, ...registered } = await webhooks.register(place, {
          url,
          ...(eventType && { eventTypes: eventType }),
        });
        // Only if it was requested: answers end up in logs.
        const shown = showSecret === true && secret !== undefined ? { secret } : {};
        commandLine.print({ ...registered, ...shown }, () =>
          sections(
            registered.created ? 'Registered.' : 'It was already registered and is unchanged.',
            facts([...endpointFacts(registered.endpoint), ['Secret', shown.secret]]),
          ),
        );
        if (secret === undefined) {
          commandLine.note(
            "Read the signing secret in the lab service's dashboard: labops shows it only if LABOPS_ENCRYPTION_KEYS is set.",
          );
        } else if (showSecret !== true) commandLine.note('Use --show-secret to see the signing secret.');
      }),
    );
}

function changingCommands({ ofTeam, send, show, commandLine }: Area): void {
  ofTeam('update <webhook-id>', 'change an endpoint; what is not named stays')
    .option('--url <url>', 'the new address')
    .addOption(
      new Option('--event-type <type>', 'only events of this type from now on; can be repeated').argParser(collect),
    )
    .addOption(new Option('--all-events', 'events of all types from now on').conflicts('eventType'))
    .option('--description <text>', 'a description')
    .option('--rate-limit <number>', 'the most deliveries; the lab service does not document the unit', count)
    .addOption(new Option('--unlimited', 'remove the rate limit').conflicts('rateLimit'))
    .option('--disable', 'deliver nothing more; `enable` is the opposite')
    .action(async (webhookId: string, options: UpdateOptions) =>
      send(async (webhooks) => show(await webhooks.update(options, webhookId, changeOf(options)))),
    );
  ofTeam('enable <webhook-id>', 'deliver events again to an endpoint that was disabled').action(
    async (webhookId: string, place: WebhookPlace) =>
      send(async (webhooks) => {
        show(await webhooks.enable(place, webhookId));
        commandLine.note('Events missed meanwhile are not sent again: see `labops orders reconcile --help`.');
      }),
  );
}

function headerCommands({ ofTeam, read, send, commandLine }: Area): void {
  ofTeam('read-headers <webhook-id>', 'print the headers of deliveries').action(
    async (webhookId: string, place: WebhookPlace) =>
      read(async (webhooks) => {
        const { headers, sensitive, ...of } = await webhooks.readHeaders(place, webhookId);
        const rows = [...Object.entries(headers), ...sensitive.map((name) => [name, '(not shown)'])];
        commandLine.print({ ...of, headers, sensitive }, () => table(['Header', 'Value'], rows));
      }),
  );
  withExample(
    ofTeam('set-headers <webhook-id>', 'replace all headers of deliveries'),
    commandLine.terminal,
    examples.headers,
  )
    .requiredOption('--file <path>', 'the headers as a JSON object of names and values; - reads standard input')
    .action(async (webhookId: string, { file, ...place }: WebhookPlace & { file: string }) => {
      const headers = (await readObject(commandLine.terminal, file)) as Record<string, string>;
      await send(async (webhooks) => {
        const set = await webhooks.setHeaders(place, webhookId, headers);
        commandLine.print(set, () => facts([['Headers', set.names.join(', ') || 'none']]));
      });
    });
}

function rotateCommand({ ofTeam, send, commandLine }: Area): void {
  ofTeam('rotate <webhook-id>', 'set a new signing secret; for a while, events are signed with both')
    .option('--secret-file <path>', 'the new secret, which the ingress knows already; - reads standard input')
    .option('--show-secret', "print the new secret, which belongs in the ingress's WEBHOOK_SECRETS")
    .action(async (webhookId: string, { showSecret, secretFile, ...place }: RotateOptions) => {
      const given =
        secretFile === undefined ? {} : { secret: (await readText(commandLine.terminal, secretFile)).trim() };
      await send(async (webhooks) => {
        const { secret, ...rotated } = await webhooks.rotate(place, webhookId, given);
        const shown = showSecret === true ? { secret } : {};
        commandLine.print({ ...rotated, ...shown }, () =>
          facts([
            ['Endpoint', rotated.webhookId],
            ['New secret', shown.secret],
          ]),
        );
        if (secretFile !== undefined) {
          commandLine.note(
            "Keep the old secret in the ingress's WEBHOOK_SECRETS for two days: events may still carry it.",
          );
          return;
        }
        commandLine.note("Add the new secret to the ingress's WEBHOOK_SECRETS before the old one expires.");
        if (showSecret !== true)
          commandLine.note('To see it: `labops webhooks register --show-secret` with the address of the endpoint.');
      });
    });
}

function deleteCommand({ ofTeam, send, commandLine }: Area): void {
  ofTeam('delete <webhook-id>', 'delete an endpoint')
    .option('--yes', 'do not ask for a confirmation')
    .action(async (webhookId: string, { yes, ...place }: WebhookPlace & { yes?: true }) => {
      await commandLine.confirm(`Endpoint ${webhookId} will be deleted and will receive no more events.`, yes === true);
      await send(async (webhooks) => {
        const answer = await webhooks.delete(place, webhookId);
        commandLine.print(answer, () =>
          answer.deleted ? `Deleted ${webhookId}.` : `There is no endpoint ${webhookId}.`,
        );
      });
    });
}

function changeOf(options: UpdateOptions): WebhookChange {
  const { url, eventType, allEvents, description, rateLimit, unlimited, disable } = options;
  return {
    ...(url !== undefined && { url }),
    ...(description !== undefined && { description }),
    ...(eventType !== undefined && { eventTypes: eventType }),
    ...(allEvents === true && { eventTypes: [] }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(unlimited === true && { rateLimit: null }),
    ...(disable === true && { disabled: true }),
  };
}

function endpointFacts(endpoint: WebhookEndpoint): Parameters<typeof facts>[0] {
  return [
    ['Endpoint', endpoint.id],
    ['Address', endpoint.url],
    ['Description', endpoint.description],
    ['Disabled', endpoint.disabled],
    ['Event types', endpoint.eventTypes.join(', ') || 'all'],
    ['Rate limit', endpoint.rateLimit],
    ['Created', moment(endpoint.createdAt)],
    ['Changed', moment(endpoint.updatedAt)],
  ];
}

function endpointTable(endpoints: readonly WebhookEndpoint[]): string {
  if (endpoints.length === 0) return 'No endpoints.';
  return table(
    ['Endpoint', 'Address', 'Disabled', 'Event types', 'Created'],
    endpoints.map(({ id, url, disabled, eventTypes, createdAt }) => [
      id,
      url,
      disabled,
      eventTypes.join(', ') || 'all',
      moment(createdAt),
    ]),
  );
}
