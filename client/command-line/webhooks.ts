import { Option, type Command } from 'commander';
import type { WebhookPlace } from '../../service/management-webhooks.js';
import type { WebhookChange, WebhookEndpoint, WebhookRegistered } from '../../protocol/webhook-endpoints.js';
import type { CommandLine, Patience } from './command-line.js';
import { collect, count, readObject, readText } from './input.js';
import { facts, moment, sections, table } from './output.js';

type PlaceOptions = WebhookPlace;

interface UpdateOptions extends PlaceOptions {
  url?: string;
  eventType?: string[];
  allEvents?: true;
  description?: string;
  rateLimit?: number;
  unlimited?: true;
  disable?: true;
}

interface RotateOptions extends PlaceOptions {
  secretFile?: string;
  showSecret?: true;
}

interface RegisterOptions extends PlaceOptions {
  url: string;
  eventType?: string[];
  showSecret?: true;
}

/** As long as such a command may run: it may wait for another one before it. */
const patience: Patience = '10m';

const mayHappen = 'The command may be carried out nevertheless: `labops webhooks list` shows the endpoints';

type OfTeam = (name: string, description: string) => Command;

/** The endpoints to which the lab service delivers a team's events. Needs a worker with a management key. */
export function webhookCommands(program: Command, commandLine: CommandLine): void {
  const webhooks = program.command('webhooks').description("manage the endpoints for a team's events");
  const ofTeam: OfTeam = (name, description) =>
    webhooks
      .command(name)
      .description(description)
      .addOption(
        new Option('--org-id <id>', 'the organisation, as the lab service names it')
          .env('LABOPS_ORG_ID')
          .makeOptionMandatory(),
      )
      .addOption(
        new Option('--team-id <id>', 'the team, as the lab service names it')
          .env('LABOPS_TEAM_ID')
          .makeOptionMandatory(),
      )
      .addOption(
        new Option('--environment <name>', 'the environment of the team')
          .choices(['production', 'sandbox'])
          .env('LABOPS_ENVIRONMENT')
          .makeOptionMandatory(),
      );
  readingCommands(ofTeam, commandLine);
  changingCommands(ofTeam, commandLine);
  headerCommands(ofTeam, commandLine);
  rotateCommand(ofTeam, commandLine);
  deleteCommand(ofTeam, commandLine);
}

function readingCommands(ofTeam: OfTeam, commandLine: CommandLine): void {
  ofTeam('list', "list a team's endpoints").action(async (options: PlaceOptions) =>
    commandLine.run(async ({ lab }) => {
      const endpoints = await lab.webhooks.list(placeOf(options));
      commandLine.print({ endpoints }, () => endpointTable(endpoints));
    }, patience),
  );
  ofTeam('show <webhook-id>', 'show an endpoint').action(async (webhookId: string, options: PlaceOptions) =>
    commandLine.run(async ({ lab }) => {
      const endpoint = await lab.webhooks.get(placeOf(options), webhookId);
      commandLine.print(endpoint, () => facts(endpointFacts(endpoint)));
    }, patience),
  );
}

function changingCommands(ofTeam: OfTeam, commandLine: CommandLine): void {
  const show = (endpoint: WebhookEndpoint): void => commandLine.print(endpoint, () => facts(endpointFacts(endpoint)));
  ofTeam('register', 'register an endpoint; an existing one for the address stays as it is')
    .requiredOption('--url <url>', 'the address of the ingress, such as https://labs.example.com/webhooks')
    .option('--event-type <type>', 'only events of this type; can be repeated (default: all)', collect)
    .option('--show-secret', "print the signing secret, which belongs in the ingress's WEBHOOK_SECRETS")
    .action(async ({ url, eventType, showSecret, ...options }: RegisterOptions) =>
      commandLine.send(
        mayHappen,
        async ({ lab }) => {
          const endpoint = { url, ...(eventType && { eventTypes: eventType }) };
          const registered = await lab.webhooks.register(placeOf(options), endpoint);
          showRegistered(commandLine, registered, showSecret === true);
        },
        patience,
      ),
    );
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
      commandLine.send(
        mayHappen,
        async ({ lab }) => {
          show(await lab.webhooks.update(placeOf(options), webhookId, changeOf(options)));
        },
        patience,
      ),
    );
  ofTeam('enable <webhook-id>', 'deliver events again to an endpoint that was disabled').action(
    async (webhookId: string, options: PlaceOptions) =>
      commandLine.send(
        mayHappen,
        async ({ lab }) => {
          show(await lab.webhooks.enable(placeOf(options), webhookId));
          commandLine.note('Events missed meanwhile are not sent again: see `labops reconcile --help`.');
        },
        patience,
      ),
  );
}

function headerCommands(ofTeam: OfTeam, commandLine: CommandLine): void {
  ofTeam('headers <webhook-id>', 'print the headers of deliveries, or replace them with --set-file')
    .option('--set-file <path>', 'replace all headers with a JSON object of names and values; - reads standard input')
    .action(async (webhookId: string, { setFile, ...options }: PlaceOptions & { setFile?: string }) => {
      const headers = setFile === undefined ? undefined : await readObject(commandLine.terminal, setFile);
      if (headers !== undefined) {
        await commandLine.send(
          mayHappen,
          async ({ lab }) => {
            const set = await lab.webhooks.setHeaders(placeOf(options), webhookId, headers as Record<string, string>);
            commandLine.print(set, () => facts([['Headers', set.names.join(', ') || 'none']]));
          },
          patience,
        );
        return;
      }
      await commandLine.run(async ({ lab }) => {
        const read = await lab.webhooks.headers(placeOf(options), webhookId);
        commandLine.print(read, () =>
          table(
            ['Header', 'Value'],
            [...Object.entries(read.headers), ...read.sensitive.map((name) => [name, '(not shown)'])],
          ),
        );
      }, patience);
    });
}

function rotateCommand(ofTeam: OfTeam, commandLine: CommandLine): void {
  ofTeam('rotate <webhook-id>', 'set a new signing secret; for a while, events are signed with both')
    .option('--secret-file <path>', 'the new secret, which the ingress knows already; - reads standard input')
    .option('--show-secret', "print the new secret, which belongs in the ingress's WEBHOOK_SECRETS")
    .action(async (webhookId: string, { showSecret, secretFile, ...options }: RotateOptions) => {
      const given = secretFile === undefined ? undefined : (await readText(commandLine.terminal, secretFile)).trim();
      await commandLine.send(
        mayHappen,
        async ({ lab }) => {
          const input = given === undefined ? {} : { secret: given };
          const { secret, ...rotated } = await lab.webhooks.rotate(placeOf(options), webhookId, input);
          const shown = showSecret === true ? { secret } : {};
          commandLine.print({ ...rotated, ...shown }, () =>
            facts([
              ['Endpoint', rotated.webhookId],
              ['New secret', shown.secret],
            ]),
          );
          if (given !== undefined) {
            commandLine.note(
              "Keep the old secret in the ingress's WEBHOOK_SECRETS for two days: events may still carry it.",
            );
            return;
          }
          commandLine.note("Add the new secret to the ingress's WEBHOOK_SECRETS before the old one expires.");
          if (showSecret !== true) {
            commandLine.note('To see it: `labops webhooks register --show-secret` with the address of the endpoint.');
          }
        },
        patience,
      );
    });
}

function deleteCommand(ofTeam: OfTeam, commandLine: CommandLine): void {
  ofTeam('delete <webhook-id>', 'delete an endpoint')
    .option('--yes', 'do not ask for a confirmation')
    .action(async (webhookId: string, { yes, ...options }: PlaceOptions & { yes?: true }) => {
      await commandLine.confirm(`Endpoint ${webhookId} will be deleted and will receive no more events.`, yes === true);
      await commandLine.send(
        mayHappen,
        async ({ lab }) => {
          const answer = await lab.webhooks.delete(placeOf(options), webhookId);
          commandLine.print(answer, () =>
            answer.deleted ? `Deleted ${webhookId}.` : `There is no endpoint ${webhookId}.`,
          );
        },
        patience,
      );
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

/** The secret only if it was requested: answers end up in logs. */
function showRegistered(
  commandLine: CommandLine,
  { secret, ...registered }: WebhookRegistered,
  showSecret: boolean,
): void {
  const { endpoint, created } = registered;
  const shown = showSecret && secret !== undefined ? { secret } : {};
  commandLine.print({ ...registered, ...shown }, () =>
    sections(
      created ? 'Registered.' : 'It was already registered and is unchanged.',
      facts([...endpointFacts(endpoint), ['Secret', shown.secret]]),
    ),
  );
  if (secret === undefined) {
    commandLine.note(
      "Read the signing secret in the lab service's dashboard: labops shows it only if LABOPS_ENCRYPTION_KEYS is set.",
    );
  } else if (!showSecret) {
    commandLine.note('Use --show-secret to see the signing secret.');
  }
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

function placeOf({ orgId, teamId, environment }: PlaceOptions): WebhookPlace {
  return { orgId, teamId, environment };
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
