import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** An address for a program that starts later. It is taken from the beginning, so no other program gets its port meanwhile. */
export interface Door {
  url: string;
  /** From now on what comes in reaches this port; until then it is cut off. */
  leadTo(port: number): void;
  close(): Promise<void>;
}

export async function openDoor(): Promise<Door> {
  let target = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    if (target === 0) return void socket.resetAndDestroy();
    const there = connect(target, '127.0.0.1');
    for (const [one, other] of [
      [socket, there],
      [there, socket],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy()).on('close', () => sockets.delete(one) && other.destroy());
      one.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: (port) => void (target = port),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
