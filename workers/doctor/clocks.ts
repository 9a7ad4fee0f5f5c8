import type { Response } from 'undici';
import type { AddressedConfig } from '../../service/http/http.js';
import { fetchThroughProxy } from '../../service/http/proxy.config.js';
import { answerWithinMs, fault, notChecked, ok, reasonOf, type Verdict, warning } from './findings.js';
import type { Temporal } from './server.js';

/* The clock of this machine against the others. A signature counts for five minutes, so a clock that is far off refuses everything. */

const warningMs = 5_000;
const faultMs = 2 * 60_000;

export async function clockOfTemporal(temporal: Temporal, taskQueue: string): Promise<Verdict> {
  const { connection, namespace } = temporal;
  const { pollers } = await connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: taskQueue } });
  const skewMs = temporal.skewMs();
  if (skewMs !== undefined) return verdict('Temporal', skewMs);
  const polls = pollers.map(({ lastAccessTime: at }) => Number(at?.seconds ?? 0) * 1000);
  if (polls.length === 0) return notChecked('Temporal sends no time, and no worker polls');
  // A poll cannot be later than now: if it is, this clock is slow. One that is fast shows only against the service.
  const aheadMs = Math.max(...polls) - Date.now();
  if (aheadMs > warningMs) return verdict('Temporal', aheadMs);
  return ok("This machine's clock is not behind Temporal's, by the last poll of a worker.");
}

/** A request without a key: its answer does not matter, every answer has a date. */
export async function clockOfService({ baseUrl }: AddressedConfig): Promise<Verdict> {
  const sentAt = Date.now();
  let answer: Response;
  try {
    answer = await fetchThroughProxy(baseUrl, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(answerWithinMs),
    });
  } catch (error) {
    return notChecked(`the lab service does not answer (${reasonOf(error)})`);
  }
  const at = Date.parse(answer.headers.get('date') ?? '');
  if (Number.isNaN(at)) return notChecked("the lab service's answer has no date");
  // The date is a whole second, of any moment between request and answer.
  return verdict('the lab service', at + 500 - (sentAt + Date.now()) / 2);
}

/** @param skewMs the other's time minus ours */
function verdict(other: string, skewMs: number): Verdict {
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const differs = Math.abs(skewMs) > warningMs;
  const found = differs
    ? `This machine's clock is ${seconds} seconds ${skewMs > 0 ? 'behind' : 'ahead of'} that of ${other}.`
    : `This machine's clock agrees with that of ${other}.`;
  if (!differs) return ok(found);
  const remedy = 'Synchronise the clock of this machine (NTP): signatures are refused from five minutes on.';
  return Math.abs(skewMs) > faultMs ? fault(found, remedy) : warning(found, remedy);
}
