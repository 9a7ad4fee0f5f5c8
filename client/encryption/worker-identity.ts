import { hostname } from 'node:os';

/*
 * How a worker shows whether it encrypts: at the end of its identity, which Temporal tells about everybody who polls a task
 * queue. So a client without keys learns it before it sends anything.
 */

const suffix = ' (encrypts)';

export function workerIdentity(encrypts: boolean): string {
  return `${process.pid}@${hostname()}${encrypts ? suffix : ''}`;
}

export function isOfEncryptingWorker(identity: string | null | undefined): boolean {
  return identity?.endsWith(suffix) ?? false;
}
