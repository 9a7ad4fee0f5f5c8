import type { ConnectionLike, Metadata } from '@temporalio/client';
import { makeTelemetryFilterString, NativeConnection, Runtime, type NativeConnectionOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { within } from '../client/call-options.js';
import { connectionFault } from '../client/reachability.js';
import { addressAndWay } from '../client/temporal-connection.js';
import { code, connectionRemedy } from '../client/temporal-errors.js';
import { proxyFor } from '../service/http/proxy.config.js';
import { temporalLogger } from './log.js';
import type { SdkMetrics } from './monitoring/sdk-metrics.js';
import { StartFailed } from './process.js';
import type { TemporalConfig } from './settings/temporal.js';

/* Temporal's native client, which is the worker's and the ingress's: its calls take less CPU than those of gRPC for JavaScript. */

/** A development server answers at once; over a slow line TLS and a first call take a few seconds. */
const connectTimeoutMs = 15_000;

/** @throws StartFailed in one line if Temporal cannot be reached */
export async function connect(
  { address, connection }: TemporalConfig,
  options: NativeConnectionOptions = {},
): Promise<NativeConnection> {
  const connecting = NativeConnection.connect({ ...connection, ...nativeProxy(address), ...options });
  try {
    return await within(connectTimeoutMs, connecting);
  } catch (error) {
    // The native core itself would wait as long as the system: what comes of it later is closed.
    connecting.then((late) => late.close()).catch(() => undefined);
    const [reason, remedy] = await whyUnreachable(connection, error);
    throw new StartFailed(`Temporal cannot be reached at ${addressAndWay(address)} (${reason}): ${remedy}.`, {
      cause: error,
    });
  }
}

/** The native core knows no proxy but the one that it is given. */
function nativeProxy(address: string): Pick<NativeConnectionOptions, 'proxy'> {
  const proxy = proxyFor(`grpc://${address}`)?.url;
  if (proxy === undefined) return {};
  const [username, password] = [decodeURIComponent(proxy.username), decodeURIComponent(proxy.password)];
  const basicAuth = username === '' ? {} : { basicAuth: { username, password } };
  return { proxy: { type: 'http-connect', targetHost: `${proxy.hostname}:${proxy.port || 80}`, ...basicAuth } };
}

/** The reason, and what to do. */
async function whyUnreachable(connection: TemporalConfig['connection'], error: unknown): Promise<[string, string]> {
  if (reasonOf(error).includes('NativeCertsNotFound')) {
    const remedy =
      'install the package ca-certificates, or name the file of your certificate authority in TEMPORAL_TLS_SERVER_CA_CERT_PATH';
    return ['this system has no root certificates', remedy];
  }
  const reason = (await connectionFault(connection)) ?? reasonOf(error);
  return [reason, connectionRemedy(reason)];
}

/** The native core wraps the system's sentence several times; that sentence is the useful part. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const innermost = /message: "([^"]+)"/.exec(message)?.[1];
  return innermost ?? message.split('\n', 1).join('');
}

/** Once for a process, before its worker is started. */
export function installRuntime({ logLevel }: { logLevel: string }, log: Logger, sdk?: SdkMetrics): void {
  const core = ['trace', 'debug'].includes(logLevel) ? 'DEBUG' : 'WARN';
  Runtime.install({
    logger: temporalLogger(log),
    telemetryOptions: {
      logging: { filter: makeTelemetryFilterString({ core, other: 'WARN' }), forward: {} },
      ...(sdk && { metrics: sdk.telemetry }),
    },
    shutdownSignals: [], // handled by the process, so the connections are closed after the last activity
  });
}

/** Between two attempts, as the client package's `reconnection` has it. */
const retryMs = 5_000;

/**
 * A connection for a process that starts without Temporal: opened in the background, however long that takes. Calls wait for an attempt
 * that is under way; between two attempts they fail for the reason of the last one.
 */
export class BackgroundConnection implements ConnectionLike {
  readonly plugins = [];
  private readonly config: TemporalConfig;
  private opened: NativeConnection | undefined;
  private fault = new Error('not connected');
  private attempt: Promise<void>;
  private isClosed = false;

  constructor(config: TemporalConfig) {
    this.config = { ...config, connection: { ...config.connection } };
    this.attempt = this.open();
  }

  private async open(): Promise<void> {
    try {
      // gRPC for JavaScript does not compress either: it costs more CPU than small messages save.
      const opened = await connect(this.config, { grpcCompression: { codec: 'none' } });
      this.opened = opened;
      await this.setApiKey(this.config.connection.apiKey); // it may have changed meanwhile
      if (this.isClosed) await opened.close();
    } catch (error) {
      this.fault = error as Error;
      const again = (): void => {
        if (!this.isClosed) this.attempt = this.open();
      };
      setTimeout(again, retryMs).unref();
    }
  }

  private get usable(): NativeConnection {
    if (this.opened && !this.isClosed) return this.opened;
    const { message, cause } = this.fault;
    const isRefused = cause instanceof Error && /valid authentication|have permission/.test(cause.message);
    const answer = isRefused ? code.unauthenticated : code.unavailable;
    throw Object.assign(new Error(message), { code: answer, details: message, metadata: new Map() });
  }

  get workflowService() {
    return this.usable.workflowService;
  }

  get operatorService() {
    return this.usable.operatorService;
  }

  async ensureConnected(): Promise<void> {
    await this.attempt;
    await this.usable.ensureConnected();
  }

  async withDeadline<R>(deadline: number | Date, call: () => Promise<R>): Promise<R> {
    await this.attempt;
    return this.usable.withDeadline(deadline, call);
  }

  async withMetadata<R>(metadata: Metadata, call: () => Promise<R>): Promise<R> {
    await this.attempt;
    return this.usable.withMetadata(metadata, call);
  }

  async withAbortSignal<R>(signal: AbortSignal, call: () => Promise<R>): Promise<R> {
    await this.attempt;
    return this.usable.withAbortSignal(signal, call);
  }

  async setApiKey(key: string | undefined): Promise<void> {
    if (key === undefined) return;
    this.config.connection.apiKey = key;
    await this.opened?.setApiKey(key);
  }

  /** Gives up what is under way. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.opened?.close();
  }
}
