import { randomBytes } from 'node:crypto';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { WayFault } from './schedule.js';

/** A TCP proxy between two parts. What it was given while it hung or garbled is never delivered later. */
export interface Way {
  readonly port: number;
  /** What it does to its connections from now on; `undefined`: it passes everything on. */
  set(fault: WayFault | undefined): void;
  /** How many connections a fault has met. */
  readonly met: number;
  close(): Promise<void>;
}

const loopback = '127.0.0.1';
const delayMs = 400;
const noiseBytes = 512;

interface Pair {
  near: Socket;
  far: Socket;
  /** Set while it hung: it must not come to life again. */
  isDead: boolean;
}

/** @param targets the ports that take turns; one that refuses is passed over */
export async function startWay(targets: readonly number[]): Promise<Way> {
  const traffic = new Traffic();
  let turn = 0;
  const server = createServer((near) => {
    near.on('error', () => near.destroy());
    if (traffic.refuses()) return void near.resetAndDestroy();
    near.pause();
    void reach(targets, turn++).then((far) => {
      if (far && !near.destroyed) traffic.join(near, far);
      else end(near, far);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, loopback, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get met() {
      return traffic.met;
    },
    set: (fault) => traffic.set(fault),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      traffic.end();
      await closed;
    },
  };
}

/** The connections of one way. */
class Traffic {
  met = 0;
  readonly #pairs = new Set<Pair>();
  #fault: WayFault | undefined;

  /** True if a new connection is refused. */
  refuses(): boolean {
    if (this.#fault !== 'refuse') return false;
    this.met += 1;
    return true;
  }

  set(fault: WayFault | undefined): void {
    for (const { near, far, isDead } of this.#pairs) {
      if (!isDead && fault !== 'refuse' && fault !== 'reset') continue;
      if (!isDead) this.met += 1;
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
    this.#fault = fault === 'reset' ? undefined : fault;
  }

  end(): void {
    for (const { near, far } of this.#pairs) end(near, far);
  }

  join(near: Socket, far: Socket): void {
    const pair: Pair = { near, far, isDead: false };
    this.#pairs.add(pair);
    far.on('error', () => far.destroy());
    near.on('close', () => this.#pairs.delete(pair));
    this.#pass(pair, near, far, false);
    this.#pass(pair, far, near, true);
    near.resume();
  }

  /** @param isAnswer requests are neither garbled nor cut: without TLS nobody could tell such a request from a genuine one */
  #pass(pair: Pair, from: Socket, to: Socket, isAnswer: boolean): void {
    let late = Promise.resolve();
    from.on('end', () => void late.then(() => to.end()));
    from.on('close', (hasFailed) => void (hasFailed ? to.destroy() : late.then(() => to.destroySoon())));
    from.on('data', (chunk: Buffer) => {
      if (pair.isDead) return;
      const fault = this.#fault;
      const breaks = fault === 'hang' || (isAnswer && (fault === 'garble' || fault === 'cut'));
      if (breaks || fault === 'delay') this.met += 1;
      pair.isDead = breaks;
      if (breaks && fault !== 'hang') {
        to.end(fault === 'garble' ? randomBytes(noiseBytes) : chunk.subarray(0, Math.floor(chunk.length / 2)));
        from.destroy();
      } else if (!breaks) {
        late = late
          .then(async () => (fault === 'delay' ? pause(delayMs) : undefined))
          .then(() => write(from, to, chunk));
      }
    });
  }
}

function write(from: Socket, to: Socket, chunk: Buffer): void {
  if (to.destroyed || !to.writable) return;
  if (to.write(chunk)) return;
  from.pause();
  to.once('drain', () => from.resume());
}

function end(...sockets: (Socket | undefined)[]): void {
  for (const socket of sockets) socket?.destroy();
}

/** A connection to the first that accepts one. */
async function reach(targets: readonly number[], turn: number): Promise<Socket | undefined> {
  for (const index of targets.keys()) {
    const port = targets[(turn + index) % targets.length];
    const socket = port === undefined ? undefined : await connected(port);
    if (socket) return socket;
  }
  return undefined;
}

async function connected(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, loopback);
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}
