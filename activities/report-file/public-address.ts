import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ReportFileRefused } from './errors.js';

/** All addresses of a host name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** As every program of the machine resolves names, /etc/hosts included. */
export const systemResolve: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);

/** Azure's machines reach their host here: it looks public, and is theirs alone. */
const azureHost = '168.63.129.16';

const globalUnicastV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is one of the public internet: no loopback, private, link-local, carrier or documentation range,
 * no multicast, and nothing that carries an IPv4 address inside an IPv6 one. What is not known is not public.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // IPv4 addresses in IPv6 clothes (`::ffff:127.0.0.1`) count as what they are.
  const parsed = ipaddr.process(address);
  if (parsed.toString() === azureHost) return false;
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(globalUnicastV6);
}

/** Throws for a URL whose host is itself an address that may not be reached: such a host is never looked up. */
export function requirePublicLiteral({ hostname }: URL): void {
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0 && !isPublicAddress(literal)) throw privateAddress();
}

/**
 * The look-up of a connection that may go to public addresses only. The check sits inside the look-up, so that the
 * address that was checked is the one that is connected to: a name that resolves differently the next time
 * (DNS rebinding) gains nothing.
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
  return new ReportFileRefused('private_address', 'its host has an address that is not public (see the allowed hosts)');
}
