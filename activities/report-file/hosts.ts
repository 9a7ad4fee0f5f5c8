import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ReportFileRefused } from './errors.js';

/** Headers for some hosts, under a name that a reference may use: the secret itself stays in the configuration. */
export interface HeaderSet {
  /**
   * Hosts that may receive the headers, also after a redirect: `files.example.com`, or with its port
   * `files.example.com:8443`.
   */
  hosts: readonly string[];
  headers: Readonly<Record<string, string>>;
}

/** True if a list of hosts names the host of this URL, with its port or for all ports. No wildcards. */
export function namesHost(hosts: readonly string[], url: URL): boolean {
  const hostname = url.hostname.replace(/\.$/, '');
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return hosts.some((host) => [hostname, `${hostname}:${port}`].includes(host.toLowerCase()));
}

/**
 * The headers for one step of a download; none if the set does not name its host. They are sent unencrypted only to
 * allowed hosts, which are the deployment's own.
 */
export function headersFor(set: HeaderSet, url: URL, allowedHosts: readonly string[]): Record<string, string> {
  const isSafe = url.protocol === 'https:' || namesHost(allowedHosts, url);
  return isSafe && namesHost(set.hosts, url) ? { ...set.headers } : {};
}

export function headerSetNamed(sets: Readonly<Record<string, HeaderSet>>, name: string): HeaderSet {
  const set = Object.hasOwn(sets, name) ? sets[name] : undefined;
  if (set !== undefined) return set;
  throw new ReportFileRefused('header_set_unknown', 'headersFrom names no configured set of headers');
}

/** Throws a TypeError for a set that could never be sent; its message repeats no value. */
export function checkHeaderSets(sets: Readonly<Record<string, HeaderSet>>): void {
  for (const [name, { hosts, headers }] of Object.entries(sets)) {
    if (hosts.length === 0 || hosts.includes(''))
      throw new TypeError(`header set ${name}: hosts must name at least one host`);
    for (const [header, value] of Object.entries(headers)) {
      if (!/^[\w-]+$/.test(header) || connectionHeaders.includes(header.toLowerCase())) {
        throw new TypeError(`header set ${name}: ${header} is not a header that can be set`);
      }
      if (!/^[\x20-\x7e]+$/.test(value)) throw new TypeError(`header set ${name}: ${header} must be printable ASCII`);
    }
  }
}

const connectionHeaders = [
  ...['host', 'connection', 'keep-alive', 'te', 'trailer', 'upgrade', 'expect'],
  ...['content-length', 'transfer-encoding', 'range'],
];

/** All addresses of a host name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** As every program of the machine resolves names, /etc/hosts included. */
export const systemResolve: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);

/** Azure's machines reach their host here: it looks public, but is internal. */
const azureHost = '168.63.129.16';

const globalUnicastV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * True if an address is on the public internet: not loopback, private, link-local, carrier, documentation or multicast,
 * and not an IPv4 address inside an IPv6 one. An unknown range is not public.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // IPv4-mapped IPv6 addresses (`::ffff:127.0.0.1`) are treated as IPv4.
  const parsed = ipaddr.process(address);
  if (parsed.toString() === azureHost) return false;
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(globalUnicastV6);
}

/** Throws for a URL whose host is itself a forbidden address: such a host is never resolved. */
export function requirePublicLiteral({ hostname }: URL): void {
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0 && !isPublicAddress(literal)) throw privateAddress();
}

/**
 * The name resolution of a connection that may reach only public addresses. The check is part of the resolution, so the
 * connection uses the address that was checked: a name that resolves differently the next time (DNS rebinding) gains
 * nothing.
 */
export function publicLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, answer) => {
    publicAddresses(resolve, hostname).then(
      ([first, ...rest]) => {
        if (options.all !== true) return answer(null, first, isIP(first));
        answer(
          null,
          [first, ...rest].map((address) => ({ address, family: isIP(address) })),
        );
      },
      (error: NodeJS.ErrnoException) => answer(error, ''),
    );
  };
}

async function publicAddresses(resolve: Resolve, hostname: string): Promise<readonly [string, ...string[]]> {
  const [first, ...rest] = await resolve(hostname);
  if (first === undefined) throw Object.assign(new Error('the host has no address'), { code: 'ENOTFOUND' });
  // One is enough: a host that has both kinds is either a trap or a mistake.
  if (![first, ...rest].every(isPublicAddress)) throw privateAddress();
  return [first, ...rest];
}

function privateAddress(): ReportFileRefused {
  return new ReportFileRefused(
    'private_address',
    'its host has an address that is not public: add the host to REPORT_URL_ALLOWED_HOSTS',
  );
}
