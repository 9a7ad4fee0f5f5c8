import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ReportFileRefused } from './errors.js';

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
