import { hostname } from 'node:os';

/*
 * Shows that a worker encrypts: at the end of its identity, which Temporal returns for every poller of a task queue. So
 * a client without keys knows it before it sends anything.
 */

const suffix = ' (encrypts)';

export function workerIdentity(encrypts: boolean): string {
  return `${process.pid}@${hostname()}${encrypts ? suffix : ''}`;
}

export function isOfEncryptingWorker(identity: string | null | undefined): boolean {
  return identity?.endsWith(suffix) ?? false;
}
