import type { CommandLine } from '../client/command-line/command-line.js';
import { table, words } from '../client/command-line/output.js';
import { omitNullish } from '../service/json-object.js';
import { isBookable } from '../service/appointment/centres.js';
import { createLabService, type LabService } from '../service/lab-service.js';
import { readWorkerConfig } from './settings/config.js';

/* `labops service`: questions to the lab service that concern no person, asked with the worker's address and key. */

/** @throws ConfigInvalid, ServiceError */
async function asking<Answer>(ask: (service: LabService) => Promise<Answer>): Promise<Answer> {
  const service = createLabService(readWorkerConfig().service);
  try {
    return await ask(service);
  } finally {
    await service.close();
  }
}

export async function listProviders(commandLine: CommandLine): Promise<void> {
  const found = await asking(({ providers }) => providers.list());
  const providers = found.map(({ slug, name, auth_type: authType, supported_resources: resources }) => ({
    slug,
    ...omitNullish({ name, authType }),
    resources: resources ?? [],
  }));
  const inWords = () =>
    table(
      ['Provider', 'Name', 'Login', 'Health data'],
      providers.map(({ slug, name, authType, resources }) => [
        ...[slug, name, words(authType ?? '')],
        resources.map(words).join(', '),
      ]),
    );
  commandLine.print({ providers }, inWords, providers);
}

export interface SitesOptions {
  zip: string;
  lab: number;
  radius: number;
}

/** @param given the radius is one of those that the service takes; any other is refused before it is asked */
export async function listSites({ zip: zipCode, lab: labId, radius }: SitesOptions, commandLine: CommandLine) {
  const filter = { zipCode, labId, radius: radius as 25 };
  const { lab, centres } = await asking((service) => service.centres.near(filter));
  const sites = centres.map((centre) => {
    const { name, first_line: line, city, state, zip_code: zip } = centre.metadata ?? {};
    const { site_code: code, distance } = centre;
    const address = [line, city, state, zip].filter((part) => part != null && part !== '').join(', ');
    return { ...omitNullish({ code, name, distance }), address, bookable: isBookable(centre) };
  });
  const inWords = () =>
    table(
      ['Site', 'Name', 'Address', 'Miles', 'Bookable'],
      sites.map(({ code, name, address, distance, bookable }) => [code, name, address, distance, bookable]),
    );
  commandLine.print({ ...omitNullish({ lab }), sites }, inWords, sites);
}

export interface ResendOptions {
  from?: string;
  to?: string;
}

/** Delivering an event twice is harmless. */
export async function resendEvents(
  orders: readonly string[],
  { from, to }: ResendOptions,
  commandLine: CommandLine,
): Promise<void> {
  const request = {
    ...(orders.length > 0 && { order_ids: [...orders] }),
    ...omitNullish({ start_at: from, end_at: to }),
  };
  const orderIds = await asking((service) => service.orders.resendEvents(request));
  commandLine.print({ orderIds }, () =>
    orderIds.length === 0 ? 'No orders.' : `The latest event is delivered again for:\n${orderIds.join('\n')}`,
  );
}
