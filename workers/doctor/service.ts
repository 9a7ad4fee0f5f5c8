import type { Response } from 'undici';
import {
  ServiceError,
  ServiceRefused,
  ServiceUnavailable,
  TooManyRequests,
  Unauthorized,
} from '../../service/errors.js';
import { knownPaths, settingOf } from '../../service/description.js';
import type { AddressedConfig } from '../../service/http/http.js';
import { createLabService, type LabService } from '../../service/lab-service.js';
import type { Webhook, WebhookPlace } from '../../service/management/webhooks.js';
import { answerWithinMs, fault, notChecked, ok, type Verdict, warning, reasonOf } from './findings.js';
import { fetchThroughProxy } from '../../service/http/proxy.config.js';

/* The lab service, its key, and the endpoint that it sends webhooks to. Everything here is read. */

const options = { pageSize: 1, timeoutMs: answerWithinMs };

/** Reads one entry of the orders and of the users, which every service has, and looks for a list that is at another path. */
export async function labService(config: AddressedConfig): Promise<Verdict> {
  return withService(config, async (service) => {
    try {
      const misplaced = (await Promise.all(lists.map((list) => misplacedList(config, service, list)))).flat();
      if (misplaced.length === 0) return ok('The lab service answers, takes the key, and lists orders and users.');
      const remedies = misplaced.map(({ remedy }) => remedy).join(' and ');
      const orElse = misplaced.length === lists.length ? ', or correct SERVICE_BASE_URL' : '';
      const found = misplaced.map((each) => each.found).join(' ');
      return fault(found, `Set ${remedies}, here or in SERVICE_DESCRIPTION${orElse}.`);
    } catch (error) {
      if (error instanceof ServiceError) return refused(error);
      throw error;
    }
  });
}

const lists = [
  {
    of: 'orders',
    field: 'ordersPath',
    read: ({ orders }: LabService) => orders.page({}, 1, options),
  },
  {
    of: 'users',
    field: 'usersPath',
    read: ({ users }: LabService) => users.list(options).next(),
  },
] as const;

async function misplacedList(config: AddressedConfig, service: LabService, list: (typeof lists)[number]) {
  const { of, field, read } = list;
  const setting = settingOf[field];
  try {
    await read(service);
    return [];
  } catch (error) {
    // The slash at the end of a path may be answered with a redirect, and a path for creating alone with 405.
    const { status = 0 } = error as { status?: number };
    if (![301, 302, 307, 308, 404, 405].includes(status)) throw error;
    const found = `The list of ${of} is not at ${config[field]} (${status}).`;
    for (const path of knownPaths[field].filter((each) => each !== config[field])) {
      const other = createLabService({ ...config, [field]: path, warn: () => undefined });
      const isThere = await read(other).then(
        () => true,
        () => false,
      );
      void other.close();
      if (isThere) return [{ found, remedy: `${setting}=${path}` }];
    }
    return [{ found, remedy: `${setting} to its path` }];
  }
}

function refused(error: ServiceError): Verdict {
  const found = `${error.message}.`;
  if (error instanceof Unauthorized) {
    const remedy =
      'Set SERVICE_API_KEY to a team API key of this environment, not a management key, and check SERVICE_BRAND.';
    return fault(`The lab service does not take the key: ${found}`, remedy);
  }
  if (error instanceof TooManyRequests) {
    return warning(`The lab service limits the key: ${found}`, 'Set BACKGROUND_PER_SECOND, and run it again.');
  }
  if (error instanceof ServiceUnavailable) {
    return fault(
      `The lab service has an outage: ${found}`,
      'Wait, or ask its operator; work is retried until it is over.',
    );
  }
  const remedy = 'Correct SERVICE_BASE_URL or SERVICE_ENVIRONMENT, or the way to it (DNS, firewall, proxy).';
  return fault(`The lab service cannot be used: ${found}`, remedy);
}

/** @param secrets WEBHOOK_SECRETS; absent if the settings of the ingress are not set here */
export async function webhookEndpoint(
  config: AddressedConfig,
  place: WebhookPlace | undefined,
  secrets: readonly string[] | undefined,
): Promise<Verdict> {
  if (config.managementKey === undefined) return notChecked('SERVICE_MANAGEMENT_KEY is not set');
  if (!place) return notChecked('LABOPS_ORG_ID, LABOPS_TEAM_ID and LABOPS_ENVIRONMENT do not name the team');
  return withService(config, async (service) => {
    try {
      const endpoints: Webhook[] = [];
      for await (const endpoint of service.management.webhooks.list(place, options)) endpoints.push(endpoint);
      const enabled = endpoints.filter(({ disabled }) => disabled !== true);
      if (enabled.length === 0) return withoutEndpoint(endpoints);
      const signed = await Promise.all(
        enabled.map(({ id }) => service.management.webhooks.getSecret(place, id, options)),
      );
      return endpointVerdict(
        endpoints,
        enabled,
        secrets === undefined || signed.some((each) => secrets.some((secret) => isSameSecret(secret, each))),
      );
    } catch (error) {
      if (!(error instanceof ServiceRefused)) throw error;
      const remedy = 'Correct SERVICE_MANAGEMENT_KEY, LABOPS_ORG_ID, LABOPS_TEAM_ID and LABOPS_ENVIRONMENT.';
      return fault(`The endpoints cannot be read: ${error.message}.`, remedy);
    }
  });
}

/** The prefix, spaces and padding do not count: the ingress accepts a secret without them. */
function isSameSecret(one: string, other: string): boolean {
  const [ours, theirs] = [one, other].map((secret) => secret.trim().replaceAll(/^whsec_|=+$/g, ''));
  return ours === theirs;
}

function withoutEndpoint([first]: readonly Webhook[]): Verdict {
  const catchUp = 'then catch up: labops orders reconcile --from … --to …';
  if (!first)
    return fault(
      'No endpoint for webhooks is registered.',
      'Run: labops webhooks register --url <address of the ingress>',
    );
  return fault(`The endpoint ${first.id} is disabled.`, `Run: labops webhooks enable ${first.id}; ${catchUp}`);
}

function endpointVerdict(all: readonly Webhook[], enabled: readonly Webhook[], isSecretKnown: boolean): Verdict {
  if (!isSecretKnown) {
    const remedy =
      'Add its secret to WEBHOOK_SECRETS: labops webhooks register --show-secret with its address shows it.';
    return fault('WEBHOOK_SECRETS holds the secret of no enabled endpoint: the ingress refuses its events.', remedy);
  }
  const disabled = all.find((endpoint) => !enabled.includes(endpoint));
  if (disabled) {
    return warning(
      `The endpoint ${disabled.id} is disabled.`,
      `Run: labops webhooks enable ${disabled.id}, or delete it.`,
    );
  }
  if (enabled.every(({ filter_types: types }) => (types ?? []).length > 0)) {
    const { id } = enabled[0] ?? {};
    return warning(
      'The endpoint gets events of some types only.',
      `If that is not intended: labops webhooks update ${id} --all-events`,
    );
  }
  return ok('An endpoint for webhooks is enabled.');
}

export async function withService(
  config: AddressedConfig,
  check: (service: LabService) => Promise<Verdict>,
): Promise<Verdict> {
  const service = createLabService({ ...config, warn: () => undefined });
  try {
    return await check(service);
  } finally {
    void service.close();
  }
}

/* The clock of this machine against the lab service's. A signature counts for five minutes, so a clock that is far off refuses everything. */

const warningMs = 5_000;
const faultMs = 2 * 60_000;

/** A request without a key: its answer does not matter, every answer has a date. */
export async function clockOfService({ baseUrl }: AddressedConfig): Promise<Verdict> {
  const sentAt = Date.now();
  let answer: Response;
  try {
    answer = await fetchThroughProxy(baseUrl, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(answerWithinMs),
    });
  } catch (error) {
    return notChecked(`the lab service does not answer (${reasonOf(error)})`);
  }
  const at = Date.parse(answer.headers.get('date') ?? '');
  if (Number.isNaN(at)) return notChecked("the lab service's answer has no date");
  // The date is a whole second, of any moment between request and answer.
  const skewMs = at + 500 - (sentAt + Date.now()) / 2;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const differs = Math.abs(skewMs) > warningMs;
  const found = differs
    ? `This machine's clock is ${seconds} seconds ${skewMs > 0 ? 'behind' : 'ahead of'} that of the lab service.`
    : `This machine's clock agrees with that of the lab service.`;
  if (!differs) return ok(found);
  const remedy = 'Synchronise the clock of this machine (NTP): signatures are refused from five minutes on.';
  return Math.abs(skewMs) > faultMs ? fault(found, remedy) : warning(found, remedy);
}
