import { Option, type Command } from 'commander';
import type { WebhookPlace } from '../../service/management-webhooks.js';
import type { WebhookEndpoint, WebhookRegistered } from '../../protocol/webhook-endpoints.js';
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
  const webhooks = program.command('webhooks').description("manage the endpoints for a team's events");
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
        new Option('--environment <name>', 'the environment of the team')
          .choices(['production', 'sandbox'])
          .env('LABOPS_ENVIRONMENT')
          .makeOptionMandatory(),
      );

  ofTeam('list', "list a team's endpoints").action(async (options: PlaceOptions) =>
    commandLine.run(async ({ lab }) => {
      const endpoints = await lab.webhooks.list(placeOf(options));
      commandLine.print({ endpoints }, () => endpointTable(endpoints));
    }, patience),
  );
  ofTeam('register', 'register an endpoint; an existing one for the address stays as it is')
    .requiredOption('--url <url>', 'the address of the ingress, such as https://labs.example.com/webhooks')
    .option('--event-type <type>', 'only events of this type; can be repeated (default: all)', collect)
    .option('--show-secret', "print the signing secret, which belongs in the ingress's WEBHOOK_SECRETS")
    .action(async ({ url, eventType, showSecret, ...options }: RegisterOptions) =>
      commandLine.run(async ({ lab }) => {
        const endpoint = { url, ...(eventType && { eventTypes: eventType }) };
        const registered = await lab.webhooks.register(placeOf(options), endpoint);
        showRegistered(commandLine, registered, showSecret === true);
      }, patience),
    );
  ofTeam('rotate <webhook-id>', 'create a new signing secret; for a while, events are signed with both')
    .option('--show-secret', "print the new secret, which belongs in the ingress's WEBHOOK_SECRETS")
    .action(async (webhookId: string, { showSecret, ...options }: PlaceOptions & { showSecret?: true }) =>
      commandLine.run(async ({ lab }) => {
        const { secret, ...rotated } = await lab.webhooks.rotate(placeOf(options), webhookId);
        const shown = showSecret === true ? { secret } : {};
        commandLine.print({ ...rotated, ...shown }, () =>
          facts([
            ['Endpoint', rotated.webhookId],
            ['New secret', shown.secret],
          ]),
        );
        commandLine.note("Add the new secret to the ingress's WEBHOOK_SECRETS before the old one expires.");
        if (showSecret !== true) {
          commandLine.note('To see it: `labops webhooks register --show-secret` with the address of the endpoint.');
        }
      }, patience),
    );
  ofTeam('delete <webhook-id>', 'delete an endpoint')
    .option('--yes', 'do not ask for a confirmation')
    .action(async (webhookId: string, { yes, ...options }: PlaceOptions & { yes?: true }) => {
      await commandLine.confirm(`Endpoint ${webhookId} will be deleted and will receive no more events.`, yes === true);
      await commandLine.run(async ({ lab }) => {
        const answer = await lab.webhooks.delete(placeOf(options), webhookId);
        commandLine.print(answer, () =>
          answer.deleted ? `Deleted ${webhookId}.` : `There is no endpoint ${webhookId}.`,
        );
      }, patience);
    });
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
      facts([
        ['Endpoint', endpoint.id],
        ['Address', endpoint.url],
        ['Disabled', endpoint.disabled],
        ['Event types', endpoint.eventTypes.join(', ') || 'all'],
        ['Created', moment(endpoint.createdAt)],
        ['Secret', shown.secret],
      ]),
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
