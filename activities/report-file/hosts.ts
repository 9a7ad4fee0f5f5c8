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
