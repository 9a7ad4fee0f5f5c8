import { baseAddress, knownPaths, type ServiceDescription } from '../../service/description.js';
import { type Description, isPart, listIn, type Part, partIn, resolved } from './description.js';

export interface Derived {
  service: ServiceDescription;
  /** What could not be derived: a sentence each, which begins with the field. */
  open: string[];
}

/** The brand, the paths and the addresses of the deployment that an OpenAPI description is about. */
export function deriveService({ document, operations }: Description): Derived {
  const open: string[] = [];
  const schemes = Object.values(partIn(partIn(document, 'components'), 'securitySchemes'));
  const headers = schemes.map((scheme) => String(resolved(document, scheme)['name']));
  const brands = new Set(headers.flatMap((name) => /^x-(.+)-(?:api-key|link-token|org-key)$/i.exec(name)?.[1] ?? []));
  if (brands.size !== 1) open.push(`brand: ${brands.size} words are in the security schemes' x-<brand>-api-key.`);

  const service: ServiceDescription = brands.size === 1 ? { brand: [...brands].join('') } : {};
  for (const { field, method, ending, words } of places) {
    const found = operations
      .filter(
        (operation) => operation.method === method && !operation.path.includes('{') && ending.test(operation.path),
      )
      .map(({ path }) => path);
    const path =
      knownPaths[field].find((known) => found.includes(known)) ?? (found.length === 1 ? found[0] : undefined);
    if (path !== undefined) service[field] = path;
    else
      open.push(`${field}: ${found.length === 0 ? 'no' : 'more than one'} ${method} has a path that ends in ${words}.`);
  }

  const addresses: Record<string, string> = {};
  for (const server of listIn(document, 'servers').filter(isPart)) {
    const url = String(server['url']).replace(/\/+$/, '');
    const name = environmentOf(server);
    const isUsable = baseAddress.safeParse(url).success && !/[{}]/.test(url);
    if (isUsable && !(name in addresses)) addresses[name] = url;
    else open.push(`addresses: ${url} ${isUsable ? `looks like ${name} again` : 'is not a whole address'}.`);
  }
  if (Object.keys(addresses).length > 0) service.addresses = addresses;
  else open.push('addresses: the description names no server.');
  return { service, open };
}

const places = [
  { field: 'ordersPath', method: 'GET', ending: /\/orders\/?$/, words: '/orders' },
  { field: 'usersPath', method: 'GET', ending: /\/users?\/?$/, words: '/user or /users' },
  { field: 'createOrderPath', method: 'POST', ending: /\/orders?(?:\/create)?\/?$/, words: '/order or /order/create' },
] as const;

/** `sandbox-us`, from everything that is said of a server: its address, its description, and a name in an extension. */
function environmentOf(server: Part): string {
  const texts = Object.values(server).filter((value) => typeof value === 'string');
  // `SandboxEU` is two words.
  const words = texts
    .join(' ')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .split(/[^a-z]+/);
  const stage = ['sandbox', 'staging', 'test'].find((each) => words.includes(each)) ?? 'production';
  const region = ['us', 'eu'].find((each) => words.includes(each));
  return region === undefined ? stage : `${stage}-${region}`;
}
