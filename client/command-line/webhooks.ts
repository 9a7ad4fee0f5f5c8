import { Option, type Command } from 'commander';
import type { WebhookPlace } from '../../service/management-webhooks.js';
import type { WebhookEndpoint, WebhookRegistered } from '../../workflows/webhooks/messages.js';
import type { CommandLine, Patience } from './command-line.js';
import { collect } from './options.js';
import { facts, moment, sections, table } from './output.js';

type PlaceOptions = WebhookPlace;

interface RegisterOptions extends PlaceOptions {
  url: string;
  eventType?: string[];
  showSecret?: true;
}

/** As long as such a command may run: it may wait for another one before it. */
const patience: Patience = '10m';

/** Where the lab service delivers a team's events. Needs a worker with a management key. */
export function webhookCommands(program: Command, commandLine: CommandLine): void {
  const webhooks = program.command('webhooks').description("where the lab service delivers a team's events");
  const ofTeam = (name: string, description: string) =>
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
        new Option('--environment <name>', 'production or sandbox').env('LABOPS_ENVIRONMENT').makeOptionMandatory(),
      );

  ofTeam('list', 'all endpoints of a team').action(async (options: PlaceOptions) =>
    commandLine.run(async ({ lab }) => {
      const endpoints = await lab.webhooks.list(placeOf(options));
      commandLine.print({ endpoints }, () => endpointTable(endpoints));
    }, patience),
  );
  ofTeam('register', 'have events delivered to an address; one that is there already stays as it is')
    .requiredOption('--url <url>', 'where the ingress is reached, such as https://labs.example.com/webhooks')
    .option('--event-type <type>', 'only events of this type; may be given again (default: all)', collect)
    .option('--show-secret', 'print the signing secret, which the ingress needs in WEBHOOK_SECRETS')
    .action(async ({ url, eventType, showSecret, ...options }: RegisterOptions) =>
      commandLine.run(async ({ lab }) => {
        const wanted = { url, ...(eventType && { eventTypes: eventType }) };
        const registered = await lab.webhooks.register(placeOf(options), wanted);
        showRegistered(commandLine, registered, showSecret === true);
      }, patience),
    );
  ofTeam('rotate <webhook-id>', 'take a new signing secret and print it; for a while both sign').action(
    async (webhookId: string, options: PlaceOptions) =>
      commandLine.run(async ({ lab }) => {
        const rotated = await lab.webhooks.rotate(placeOf(options), webhookId);
        commandLine.print(rotated, () =>
          facts([
            ['Endpoint', rotated.webhookId],
            ['New secret', rotated.secret],
          ]),
        );
        commandLine.note('Add it to WEBHOOK_SECRETS of the ingress before the old one ends.');
      }, patience),
  );
  ofTeam('delete <webhook-id>', 'have nothing delivered to an endpoint any more')
    .option('--yes', 'do not ask for a confirmation')
    .action(async (webhookId: string, { yes, ...options }: PlaceOptions & { yes?: true }) => {
      await commandLine.confirm(`Nothing will be delivered to ${webhookId} any more.`, yes === true);
      await commandLine.run(async ({ lab }) => {
        const answer = await lab.webhooks.delete(placeOf(options), webhookId);
        commandLine.print(answer, () => (answer.deleted ? `Deleted ${webhookId}.` : `There is no ${webhookId}.`));
      }, patience);
    });
}

/** The secret only where it was asked for: answers end in logs. */
function showRegistered(
  commandLine: CommandLine,
  { secret, ...registered }: WebhookRegistered,
  showSecret: boolean,
): void {
  const { endpoint, created } = registered;
  const told = showSecret && secret !== undefined ? { secret } : {};
  commandLine.print({ ...registered, ...told }, () =>
    sections(
      created ? 'Registered.' : 'It was registered before, and stays as it is.',
      facts([
        ['Endpoint', endpoint.id],
        ['Address', endpoint.url],
        ['Disabled', endpoint.disabled],
        ['Event types', endpoint.eventTypes.join(', ') || 'all'],
        ['Created', moment(endpoint.createdAt)],
        ['Secret', told.secret],
      ]),
    ),
  );
  if (secret === undefined) {
    commandLine.note(
      'The signing secret is in the dashboard of the lab service: here it is shown only where LABOPS_ENCRYPTION_KEYS are set.',
    );
  } else if (!showSecret) {
    commandLine.note('Give --show-secret to see the signing secret.');
  }
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
