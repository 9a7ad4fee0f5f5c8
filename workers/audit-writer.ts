import { randomUUID } from 'node:crypto';
import type { InjectedSinks } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { KeyRing } from '../client/encryption/key-ring.js';
import type { LiveKeys } from '../client/encryption/live-keys.js';
import { AuditChain, type AuditEntry, AuditHashes } from '../store/audit-trail.js';
import type { StoreAccess } from '../store/store-access.js';
import type { AuditSinks } from '../workflows/command-audit.js';
import { observeAudit } from './monitoring/metrics.js';

/** Rows of a burst are one statement, and a kill loses no more than this. */
const everyMs = 250;
const afterFailureMs = 5_000;
/** A row takes some 300 bytes in memory: 3 MB. Ten thousand commands are days of a busy deployment. */
const mostWaiting = 10_000;
const mostAtOnce = 500;
/** The end of a process does not wait longer for the database. */
const lastAttemptMs = 3_000;

/** Writes the audit trail behind what is recorded: nobody waits for the database. */
export interface AuditWriter {
  /** The time is now. */
  record(entry: Omit<AuditEntry, 'at'>): void;
  /** Writes what waits, and gives up what cannot be written within seconds. */
  close(): Promise<void>;
}

interface Writing {
  store: StoreAccess;
  hashes: AuditHashes;
  log: Pick<Logger, 'warn' | 'error'>;
  registry?: Registry | undefined;
}

/** The trail's keys: those of its own, else the encryption keys. */
export function auditHashes({
  auditKeys,
  keys,
}: {
  auditKeys?: KeyRing | undefined;
  keys?: LiveKeys | undefined;
}): AuditHashes {
  return new AuditHashes(() => auditKeys ?? keys?.ring ?? []);
}

/** @param program the first part of the writer's name in the trail */
export function startAuditWriter(program: string, { store, hashes, log, registry }: Writing): AuditWriter {
  const chain = new AuditChain(`${program}/${randomUUID()}`, hashes);
  const waiting: AuditEntry[] = [];
  // What an attempt has begun to write. If the attempt fails, it is repeated as it was.
  let batch: AuditEntry[] = [];
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isFailing = false;
  const oldest = () => batch[0] ?? waiting[0];
  const metrics =
    registry && observeAudit(registry, () => Math.max(0, Date.now() - Date.parse(oldest()?.at ?? '') || 0));
  const lost = lossesIn(log, metrics);
  const writeAll = async (): Promise<void> => {
    while (oldest()) {
      if (batch.length === 0) batch = waiting.splice(0, mostAtOnce);
      await (await store.get()).audit.append(chain, batch, { areNew: true });
      batch = [];
    }
  };
  const write = (): Promise<void> =>
    (writing ??= writeAll()
      .then(
        () => {
          isFailing = false;
        },
        (error: unknown) => {
          if (!isFailing) log.warn({ reason: reasonOf(error) }, 'the audit trail cannot be written yet');
          isFailing = true;
        },
      )
      .finally(() => {
        writing = undefined;
        lost.report();
        if (oldest()) plan();
      }));
  const plan = (): void => {
    timer ??= setTimeout(
      () => {
        timer = undefined;
        void write();
      },
      isFailing ? afterFailureMs : everyMs,
    ).unref();
  };
  return {
    record: (entry) => {
      if (waiting.length >= mostWaiting) return lost.add(1);
      waiting.push({ at: new Date().toISOString(), ...entry });
      plan();
    },
    close: async () => {
      const tooLong = new Promise((resolve) => setTimeout(resolve, lastAttemptMs).unref());
      await Promise.race([(async () => (await writing, write()))(), tooLong]);
      clearTimeout(timer);
      lost.add(batch.length + waiting.length);
      lost.report();
    },
  };
}

/** Counts lost rows at once, and reports those since the last line of the log in one. */
function lossesIn(log: Writing['log'], metrics: ReturnType<typeof observeAudit> | undefined) {
  let rows = 0;
  return {
    add: (more: number): void => {
      metrics?.lost(more);
      rows += more;
    },
    report: (): void => {
      if (rows > 0) log.error({ rows }, 'rows of the audit trail are lost: the database did not take them');
      rows = 0;
    },
  };
}

/** A store's error quotes no row. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'not an error';
}

/** The worker's side of `workflows/command-audit.ts`. Without a writer commands are not recorded. */
export function auditSinks(writer?: AuditWriter): InjectedSinks<AuditSinks> {
  return {
    audit: {
      command: {
        fn: (_info, { by, ...command }) => writer?.record({ ...command, ...(by !== undefined && { actor: by }) }),
        callDuringReplay: false,
      },
    },
  };
}
