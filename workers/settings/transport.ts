import { isLoopback } from '../../service/http/proxy.config.js';
import type { TemporalConfig } from './temporal.js';

/*
 * Connections that anybody on the way can read. Plain text to the machine itself, or to a single name, which only a network
 * of containers resolves, passes nobody else.
 */

/** False for an address that is plain http, unless it is of this machine or of the containers' own network. */
export function isProtected(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || isNear(hostname);
}

function isNear(host: string): boolean {
  const name = host.toLowerCase();
  return isLoopback(name.replace(/^\[|\]$/g, '')) || /^[a-z0-9_-]+$/.test(name);
}

/** Modes in which PostgreSQL's client refuses to continue without TLS. */
const protectedModes = ['require', 'verify-ca', 'verify-full'];

/** Warnings, not faults: a mesh or a tunnel may protect a connection that looks plain from here. */
export function transportWarnings(temporal: TemporalConfig | undefined, databaseUrl: string | undefined): string[] {
  const warnings: string[] = [];
  if (temporal && !temporal.connection.tls && !isNear(hostOf(temporal.address))) {
    warnings.push(
      'Temporal is reached without TLS: set TEMPORAL_TLS=true, unless a mesh or tunnel encrypts on the way.',
    );
  }
  if (databaseUrl !== undefined && !isProtectedDatabase(databaseUrl)) {
    warnings.push(
      'The database is reached without TLS: add ?sslmode=verify-full to DATABASE_URL, unless a tunnel encrypts on the way.',
    );
  }
  return warnings;
}

function isProtectedDatabase(address: string): boolean {
  const { hostname, searchParams } = new URL(address);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  // Without a host, or with a path in its place, it is a socket of this machine.
  return (
    host === '' || host.startsWith('/') || isNear(host) || protectedModes.includes(searchParams.get('sslmode') ?? '')
  );
}

function hostOf(address: string): string {
  const text = `temporal://${address}`;
  return URL.canParse(text) ? new URL(text).hostname : address;
}
