import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { factsOf, readAnswer, readEnd, readPdf, readPdfStream, pdfFirstBytes } from './answers.js';
import type { AnsweredCall, QueryValue, ServiceCall } from './calls.js';
import { canonicalId } from '../canonical-id.js';
import { baseAddress, defaultBrand, knownPaths, type ServiceDescription, serviceFields } from '../description.js';
import { RequestInvalid, type CallFacts, ServiceError } from '../errors.js';
import { type ExchangeLimits, type RawAnswer, exchange } from './exchange.js';
import type { Installation } from '../installation.js';
import { keyFault, managementHeader, warnOfDeprecatedHeader } from './keys.js';
import { connectionsTo } from './proxy.config.js';
import { UploadBody } from './upload-body.js';

/** How to reach and address one deployment of the lab service. Faults are thrown by `createTransport` as TypeError. */
export interface ServiceConfig {
  /**
   * Address of the environment, `https://…`; a path in it is kept and put before every path. Default: that of `environment` in
   * `description`; none is built in.
   */
  baseUrl?: string | undefined;
  /** The content of the deployment's description, which `npm run service-check` writes. The other fields here take precedence. */
  description?: ServiceDescription;
  /** The name of the environment in `description.addresses`. */
  environment?: string;
  /**
   * Team API key, sent as `x-<brand>-api-key`. A management key is not a team API key (specification, Authentication).
   */
  apiKey: string;
  /**
   * The deployment's brand in `x-<brand>-api-key` and `x-<brand>-link-token`. Default `service`, as in the
   * specification.
   */
  brand?: string | undefined;
  /** Management key, sent as `X-Management-Key` to the management API only. Without it such calls are `RequestInvalid`. */
  managementKey?: string | undefined;
  /** Address of the management API, if it has its own. Default `baseUrl`; the address is not documented. */
  managementBaseUrl?: string | undefined;
  /**
   * The prefixes of each kind of key, if the deployment documents them. A key with the other kind's prefix, or without
   * its own, is refused before any request; if two prefixes fit, the longer one counts.
   */
  keyPrefixes?: { team?: string | undefined; management?: string | undefined };
  /**
   * Sends the management key as `X-<Brand>-Org-Key`, the deprecated name, for a deployment that knows no other. Default
   * false. Reported once, at creation, to `warn`.
   */
  deprecatedManagementHeader?: boolean;
  /** Receives warnings about the configuration, one sentence each, without a key. Default: a process warning. */
  warn?: (warning: string) => void;
  /** The name of this installation, then its former names; see `Installation`. Default `default`, which is not for production. */
  installation?: Installation;
  /** Path of the order list. Default `/orders`, as the specification writes; `/v3/orders` for a deployment that differs. */
  ordersPath?: string | undefined;
  /** Path of the user list. Default `/v2/user/` with its slash, as the specification writes. */
  usersPath?: string | undefined;
  /** Path of order creation. Default `/v3/order`; the specification also lists `/v3/order/create`. */
  createOrderPath?: string | undefined;
  /**
   * `documented` refuses orders and registrations whose names, zip codes or countries laboratories are documented to reject, before
   * anything is sent. Default `service`: it decides.
   */
  orderRules?: 'service' | 'documented';
  /**
   * Milliseconds for one connection, TLS included. Default 5,000: a healthy one takes well under a second, and a
   * failure here is safe to repeat, so it should come early.
   */
  connectTimeoutMs?: number;
  /**
   * Milliseconds from the sent request to the answer's first line. Default 30,000: order creation talks to labs and
   * couriers, and giving up too early makes an outcome unknown that was about to be known. Also how long an upload may
   * stall.
   */
  headersTimeoutMs?: number;
  /** Milliseconds between two pieces of an answer's body. Default 15,000: answers are prepared as a whole, so a pause is a fault. */
  bodyTimeoutMs?: number;
  /**
   * Milliseconds for a whole call, the wait for a free connection included; a call's own `timeoutMs` takes its place.
   * Default 60,000: headers and a slow body, and the longest call documented.
   */
  timeoutMs?: number;
  /**
   * Replaces `timeoutMs` for a call that uploads a file. Default 600,000: 10 MB take that long at 17 kB/s. A stalled
   * upload ends sooner, by `headersTimeoutMs`.
   */
  uploadTimeoutMs?: number;
  /** Connections kept open at most. Default 32: one worker's usual calls at once; further calls wait for a free one. */
  connections?: number;
  /** Is notified of every call that has ended, for metrics; it must not throw. Default: nobody is. */
  observe?: CallObserver;
  /** Bytes of one answer. Default 32 MiB: a page of 50 orders, each as large as the largest order seen (0.4 MB), and half again. */
  maxResponseBytes?: number;
}

/** Requests to the lab service. Every rejection is a `ServiceError`, or the reason of an aborted signal. */
export interface Transport {
  readonly paths: { readonly orders: string; readonly users: string; readonly createOrder: string };
  /** Sends a call and reads its answer. */
  request<T>(call: AnsweredCall<T>): Promise<T>;
  /** Reads: `path` with its `params`. */
  get<T>(
    path: string,
    params: NonNullable<ServiceCall['params']>,
    answer: AnsweredCall<T>['answer'],
    options: ServiceCall['options'],
    more?: Partial<AnsweredCall<T>>,
  ): Promise<T>;
  /** Sends a call whose answer is a PDF, 32 MiB at most by default. */
  download(call: ServiceCall): Promise<Buffer>;
  /**
   * The same as a stream, which comes with its first bytes: `options` hold until then. An answer that breaks off later, is
   * larger than `maxBytes` or takes longer than ten minutes destroys the stream with a `ServiceError`. It has to be read to
   * its end or destroyed, because it holds a connection.
   */
  downloadStream(call: ServiceCall, maxBytes?: number): Promise<Readable>;
  /** Sends a call whose answer's body means nothing. */
  send(call: ServiceCall): Promise<void>;
  /** Waits for calls under way (each ends by its timeout) and closes the connections. */
  close(): Promise<void>;
}

/** With an address. What a description says is in its fields. */
export interface AddressedConfig extends Omit<ServiceConfig, 'description' | 'environment'> {
  baseUrl: string;
}

export function createTransport(config: AddressedConfig): Transport {
  const base = checkedConfig(config);
  warnOfDeprecatedHeader(config);
  const { dispatcher, through } = connectionsTo(base.origin, {
    connections: config.connections ?? 32,
    connectTimeout: config.connectTimeoutMs ?? 5_000,
    headersTimeout: config.headersTimeoutMs ?? headersTimeoutMs,
    bodyTimeout: config.bodyTimeoutMs ?? 15_000,
    // An idle connection is closed before a usual server or balancer (5 s and more) closes it: a request on a closing
    // connection is lost with its outcome unknown. A server's own keep-alive value is honoured.
    keepAliveTimeout: 4_000,
  });
  let closed: Promise<void> | undefined;
  const keys = [config.apiKey, config.managementKey].filter((key) => key !== undefined);
  const exchanged = (call: ServiceCall, limits: Partial<ExchangeLimits> = {}) =>
    observed(factsOf(call), config.observe, () => sent(call, limits));
  const sent = async (call: ServiceCall, limits: Partial<ExchangeLimits>): Promise<RawAnswer> => {
    const upload = call.upload && new UploadBody(call.upload);
    const timeoutMs = upload
      ? (config.uploadTimeoutMs ?? 600_000)
      : Math.max(config.timeoutMs ?? 60_000, call.slowestMs ?? 0);
    return exchange(dispatcher, dispatchOptions(config, base, call, upload), factsOf(call), {
      through,
      timeoutMs: Math.min(call.options?.timeoutMs ?? timeoutMs, longestTimerMs),
      maxResponseBytes: config.maxResponseBytes ?? 32 * 1024 * 1024,
      signal: call.options?.signal,
      upload,
      ...(upload && { answerTimeoutMs: call.slowestMs }),
      idleTimeoutMs: config.headersTimeoutMs ?? headersTimeoutMs,
      ...limits,
    });
  };

  return {
    paths: {
      orders: config.ordersPath ?? knownPaths.ordersPath[0],
      users: config.usersPath ?? knownPaths.usersPath[0],
      createOrder: config.createOrderPath ?? knownPaths.createOrderPath[0],
    },
    request: async (call) => readAnswer(call, await exchanged(call), keys),
    get: async (path, params, answer, options, more) => {
      const call = { method: 'GET', path, params, answer, options, ...more } as const;
      return readAnswer(call, await exchanged(call), keys);
    },
    download: async (given) => {
      const call = pdfCall(given);
      return readPdf(call, await exchanged(call), keys);
    },
    downloadStream: async (given, maxBytes) => {
      const call = pdfCall(given);
      const stream = { firstBytes: pdfFirstBytes, timeoutMs: streamTimeoutMs };
      const limits = { stream, ...(maxBytes !== undefined && { maxResponseBytes: maxBytes }) };
      return readPdfStream(call, await exchanged(call, limits), keys);
    },
    send: async (call) => readEnd(call, await exchanged(call), keys),
    close: () => (closed ??= dispatcher.close()),
  };
}

function pdfCall(call: ServiceCall): ServiceCall {
  return { ...call, headers: { accept: 'application/pdf', ...call.headers } };
}

function dispatchOptions(
  config: AddressedConfig,
  base: { origin: string; path: string },
  call: ServiceCall,
  upload: UploadBody | undefined,
): Dispatcher.DispatchOptions {
  const headers: Record<string, string> = {
    accept: 'application/json',
    // Without this header a server may choose any coding (RFC 9110), also for a document that is read as a stream.
    'accept-encoding': 'identity',
    ...authentication(config, call),
    ...call.headers,
  };
  // An invalid header would fail inside the connection, and look like a network failure.
  const unsendable = Object.keys(headers).filter((name) => !/^[\x20-\x7e]+$/.test(headers[name] ?? ''));
  if (unsendable.length > 0) {
    const message = 'must be printable ASCII and not empty';
    throw new RequestInvalid(
      factsOf(call),
      unsendable.map((field) => ({ field, message })),
    );
  }
  const options: Dispatcher.DispatchOptions = {
    origin: base.origin,
    method: call.method,
    path: base.path + filledPath(call) + queryString(call.query),
    headers,
    ...(call.slowestMs !== undefined && {
      headersTimeout: Math.max(config.headersTimeoutMs ?? headersTimeoutMs, call.slowestMs),
    }),
  };
  if (call.upload !== undefined && upload !== undefined) {
    const length = upload.length === undefined ? {} : { 'content-length': String(upload.length) };
    return {
      ...options,
      headers: { ...headers, 'content-type': call.upload.contentType, ...length },
      body: upload.stream,
    };
  }
  if (call.body === undefined) return options;
  return { ...options, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(call.body) };
}

function authentication(config: AddressedConfig, call: ServiceCall): Record<string, string> {
  const { auth = 'team' } = call;
  const brand = (config.brand ?? defaultBrand).toLowerCase();
  if (auth === 'team') return { [`x-${brand}-api-key`]: config.apiKey };
  if (auth !== 'management') return { [`x-${brand}-link-token`]: auth.linkToken };
  if (config.managementKey !== undefined) return { [managementHeader(config)]: config.managementKey };
  throw new RequestInvalid(factsOf(call), [{ field: 'managementKey', message: 'must be configured for this call' }]);
}

/** Fills the template. Client user ids are free text, so every value is encoded and can never change the path. */
function filledPath(call: ServiceCall): string {
  return call.path.replace(/\{(\w+)\}/g, (_match, name: string) => {
    const given = call.params?.[name] ?? '';
    const value = name === 'client_user_id' ? given : canonicalId(given);
    // Dot segments are resolved away even when encoded, and a lone surrogate cannot be encoded at all.
    if (value !== '' && value !== '.' && value !== '..' && !/\p{Surrogate}/u.test(value)) {
      return encodeURIComponent(value);
    }
    const message = 'must be well-formed text and not empty, "." or ".."';
    throw new RequestInvalid(factsOf(call), [{ field: name, message }]);
  });
}

function queryString(query: Record<string, QueryValue> = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    const values = typeof value === 'object' ? value : [String(value)];
    for (const one of values) parameters.append(name, one);
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

/** Throws for a configuration that could never work; its message does not repeat a key. */
function checkedConfig(config: AddressedConfig): { origin: string; path: string } {
  const base = baseAddress.safeParse(config.baseUrl);
  if (base.error) throw new TypeError(`baseUrl ${base.error.issues[0]?.message}`);
  const url = new URL(base.data);
  const fault = keyFault(config);
  if (fault !== undefined) throw new TypeError(`${fault.key} ${fault.problem}`);
  for (const name of ['brand', 'ordersPath', 'usersPath', 'createOrderPath'] as const) {
    const { error } = serviceFields[name].optional().safeParse(config[name]);
    if (error) throw new TypeError(`${name} ${error.issues[0]?.message}`);
  }
  for (const name of numericOptions) {
    const value = config[name] ?? 1;
    if (!Number.isInteger(value) || value < 1) throw new TypeError(`${name} must be a whole number above zero`);
  }
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, '') };
}

const headersTimeoutMs = 30_000;

/** As long as an upload: its reader may be a slow connection to a browser. */
const streamTimeoutMs = 600_000;

/** A timer set for longer fires at once. */
const longestTimerMs = 2 ** 31 - 1;

const numericOptions = [
  'connectTimeoutMs',
  'headersTimeoutMs',
  'bodyTimeoutMs',
  'timeoutMs',
  'uploadTimeoutMs',
  'connections',
  'maxResponseBytes',
] as const;

/** A call that was sent, or should have been, and has ended. Nothing personal: the path is the template. */
export interface ObservedCall extends Pick<CallFacts, 'method' | 'path'> {
  /**
   * The HTTP status; without an answer the name of the error (`ServiceUnreachable`, `AnswerLost`, `AnswerUnreadable`), or `aborted`
   * if the caller gave it up.
   */
  result: number | string;
  /** The wait for a free connection included. */
  milliseconds: number;
}

export type CallObserver = (call: ObservedCall) => void;

/** Reports the call when it has ended, and leaves its outcome as it is. One that breaks a rule was never sent, and is not reported. */
export async function observed<Answer extends { status: number }>(
  { method, path }: CallFacts,
  observe: CallObserver | undefined,
  send: () => Promise<Answer>,
): Promise<Answer> {
  if (!observe) return send();
  const started = performance.now();
  const report = (result: number | string) =>
    observe({ method, path, result, milliseconds: performance.now() - started });
  try {
    const answer = await send();
    report(answer.status);
    return answer;
  } catch (error) {
    if (!(error instanceof RequestInvalid)) report(error instanceof ServiceError ? error.name : 'aborted');
    throw error;
  }
}
