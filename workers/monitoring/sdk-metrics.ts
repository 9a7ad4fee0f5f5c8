import { createServer, type AddressInfo } from 'node:net';
import type { TelemetryOptions } from '@temporalio/worker';

/** The SDK's own metrics: its native core serves them itself, and the process shows them on its page. */
export interface SdkMetrics {
  /** For `Runtime.install`. */
  telemetry: NonNullable<TelemetryOptions['metrics']>;
  /** The core's page in Prometheus' text format. */
  page(): Promise<string>;
}

const answerWithinMs = 2_000;

/**
 * Names and units as Temporal's documentation writes them: counters end in `_total`, durations are in seconds. The core answers
 * on a port of the loopback interface only.
 */
export async function sdkMetrics(): Promise<SdkMetrics> {
  const address = `127.0.0.1:${await freePort()}`;
  return {
    telemetry: {
      attachServiceName: false,
      prometheus: {
        bindAddress: address,
        countersTotalSuffix: true,
        unitSuffix: true,
        useSecondsForDurations: true,
      },
    },
    async page() {
      const answer = await fetch(`http://${address}/metrics`, { signal: AbortSignal.timeout(answerWithinMs) });
      if (!answer.ok) throw new Error(`the SDK's metrics answered ${answer.status}`);
      return answer.text();
    },
  };
}

/** The core cannot say which port it got, so it is given one. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}
