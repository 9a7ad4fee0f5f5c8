import type { Response } from 'undici';
import type { AddressedConfig } from '../../service/http/http.js';
import { fetchThroughProxy } from '../../service/http/proxy.config.js';
import { answerWithinMs, fault, notChecked, ok, reasonOf, type Verdict, warning } from './findings.js';

/* The clock of this machine against the lab service's. A signature counts for five minutes, so a clock that is far off refuses everything. */

const warningMs = 5_000;
const faultMs = 2 * 60_000;

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
  const skewMs = at + 500 - (sentAt + Date.now()) / 2;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const differs = Math.abs(skewMs) > warningMs;
  const found = differs
    ? `This machine's clock is ${seconds} seconds ${skewMs > 0 ? 'behind' : 'ahead of'} that of the lab service.`
    : `This machine's clock agrees with that of the lab service.`;
  if (!differs) return ok(found);
  const remedy = 'Synchronise the clock of this machine (NTP): signatures are refused from five minutes on.';
  return Math.abs(skewMs) > faultMs ? fault(found, remedy) : warning(found, remedy);
}
