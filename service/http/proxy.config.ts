import { BlockList, isIP } from 'node:net';
import { fetch, Pool, ProxyAgent, type Dispatcher, type RequestInit, type Response } from 'undici';
import { invalid } from '../lab-operations-error.js';

/*
 * The proxy that the environment names for an address. All connections follow this one rule: the lab service, notifications, doctor's
 * requests, and both kinds of connection to Temporal. Two of them have no rule of their own, and gRPC's sends even this machine's traffic away.
 */

type Env = Readonly<Record<string, string | undefined>>;

/** The first that is set counts, in small letters or in capitals. */
const settings: Readonly<Record<string, readonly string[]>> = {
  'http:': ['http_proxy'],
  'https:': ['https_proxy', 'http_proxy'],
  'grpc:': ['grpc_proxy', 'https_proxy', 'http_proxy'],
};

interface Proxy {
  url: URL;
  /** The name of the variable that it is from. */
  setting: string;
}

/** A variable for proxies holds something else. The message does not repeat it: it may contain a password. */
export class ProxyInvalid extends invalid(
  'ProxyInvalid',
  'Correct the variable that the message names, or leave it unset.',
) {
  readonly setting: string;
  readonly problem: string;

  constructor(setting: string, protocols: string) {
    const problem = `is not the address of a proxy (${protocols}://host:port)`;
    super(`${setting} ${problem}`);
    this.setting = setting;
    this.problem = problem;
  }
}

/**
 * Undefined if the address is reached directly: on this machine, named by no_proxy, or no proxy is set.
 * @param address with `http:`, `https:`, or `grpc:` for Temporal
 * @throws ProxyInvalid
 */
export function proxyFor(address: string, env: Env = process.env): Proxy | undefined {
  const { protocol, hostname, port } = new URL(address);
  const host = hostname.toLowerCase().replace(/^\[|\]$/g, '');
  if (isLoopback(host) || isExempt(host, port || defaultPorts[protocol], env)) return undefined;
  const [setting] = (settings[protocol] ?? []).flatMap((name) => variableOf(name, env));
  if (setting === undefined) return undefined;
  const text = env[setting]?.trim() ?? '';
  const given = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const protocols = protocol === 'grpc:' ? 'http' : 'http or https';
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isProxy =
    url !== undefined && protocols.split(' or ').includes(url.protocol.slice(0, -1)) && url.hostname !== '';
  if (!isProxy) throw new ProxyInvalid(setting, protocols);
  return { url, setting };
}

/** For messages, after an address; empty without a proxy. It names no credentials. */
export function throughWhich(proxy: Proxy | undefined): string {
  return proxy === undefined ? '' : ` through the proxy ${proxy.url.protocol}//${proxy.url.host} (${proxy.setting})`;
}

/** The variable that gRPC itself reads, in a connection that is not ours. */
export function grpcProxySetting(env: Env = process.env): string | undefined {
  return settings['grpc:']?.find((name) => (env[name] ?? '') !== '');
}

export function isLoopback(host: string): boolean {
  return /^(127(\.\d{1,3}){3}|::1|localhost|.+\.localhost)$/i.test(host);
}

function variableOf(name: string, env: Env): string[] {
  return [name, name.toUpperCase()].filter((each) => (env[each]?.trim() ?? '') !== '');
}

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443', 'grpc:': '7233' };

/** True if no_proxy names the host: by its name or a domain above it, an address, a network such as 10.0.0.0/8, or `*` for all. */
function isExempt(host: string, port: string | undefined, env: Env): boolean {
  const [setting = ''] = variableOf('no_proxy', env);
  return (env[setting] ?? '').split(/[,\s]+/).some((entry) => {
    const [, name = entry, onlyPort] = isIP(entry) === 0 ? (/^(.+?):(\d+)$/.exec(entry) ?? []) : [];
    if (onlyPort !== undefined && onlyPort !== port) return false;
    const domain = name
      .toLowerCase()
      .replace(/^\*?\./, '')
      .replace(/^\[|\]$/g, '');
    return (
      domain === '*' || domain === host || (domain !== '' && host.endsWith(`.${domain}`)) || contains(domain, host)
    );
  });
}

function contains(network: string, host: string): boolean {
  const [address = '', bits = ''] = network.split('/');
  const family = isIP(host);
  if (family === 0 || isIP(address) !== family || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
    return false;
  const list = new BlockList();
  const kind = family === 4 ? 'ipv4' : 'ipv6';
  list.addSubnet(address, Number(bits), kind);
  return list.check(host, kind);
}

/** Connections to one origin, through its proxy if it has one. */
export function connectionsTo(
  origin: string,
  options: Pool.Options & { connectTimeout: number },
): { dispatcher: Dispatcher; through: string } {
  const proxy = proxyFor(origin);
  if (proxy === undefined) return { dispatcher: new Pool(origin, options), through: '' };
  const limits = { timeout: options.connectTimeout };
  const dispatcher = new ProxyAgent({ ...options, uri: proxy.url.href, requestTls: limits, proxyTls: limits });
  return { dispatcher, through: throughWhich(proxy) };
}

const agents = new Map<string, ProxyAgent>();

/** The connections to the address's proxy; undefined without one. */
export function proxyAgentFor(address: string): ProxyAgent | undefined {
  const href = proxyFor(address)?.url.href;
  if (href === undefined) return undefined;
  const agent = agents.get(href) ?? new ProxyAgent(href);
  agents.set(href, agent);
  return agent;
}

/** `fetch`, through the address's proxy if it has one. */
export async function fetchThroughProxy(address: string, init: RequestInit): Promise<Response> {
  const dispatcher = proxyAgentFor(address);
  return fetch(address, { ...init, ...(dispatcher && { dispatcher }) });
}
