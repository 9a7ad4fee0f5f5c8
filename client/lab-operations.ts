import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import { defaultTaskQueue } from '../protocol/task-queues.js';
import type { Installation } from '../service/installation.js';
import { createLabService, type LabService } from '../service/lab-service.js';
import { type OnRead, reporterOf, withReads } from '../service/reads.js';
import type { ServiceConfig } from '../service/http/http.js';
import { type CallOptions, type Deadline, millisecondsOf, DeadlinePassed, within } from './call-options.js';
import { AppointmentOperations } from './appointment/appointments.js';
import { CatalogueOperations } from './catalogue.js';
import { DocumentOperations } from './documents.js';
import {
  type Encryption,
  installationOf,
  readActor,
  readEncryption,
  readInstallation,
  keyRingFile,
  keyRingIn,
  readKeyRing,
  requireActor,
  TemporalSettingInvalid,
  defaultEncryption,
} from './config.js';
import { addressFault, readTemporalSettings, temporalKeyFile, followKeyFile, headerFault } from './temporal.config.js';
import type { ClientConnectConfig } from '@temporalio/envconfig';
import { labDataConverter } from './encryption/payload-codec.js';
import { withKeysRequired, encryptionRequired } from './encryption/key-requirement.js';
import { KeyRingInvalid, parseKeyRing } from './encryption/key-ring.js';
import { fixedKeys, followKeys, type LiveKeys } from './encryption/live-keys.js';
import { EncryptionKeysMissing } from './errors.js';
import { LinkOperations } from './link/links.js';
import { MatchReviewOperations } from './match-review/match-reviews.js';
import type { ServiceAccess } from './service-calls.js';
import { OrderOperations } from './order/orders.js';
import { NotificationOperations } from './notifications/undelivered.js';
import { UserOperations } from './user/users.js';
import { withIdentityOf, withPayloadLimit } from './payload-limit.js';
import { addressAndWay, throughProxy, reconnection } from './temporal-connection.js';
import { connectionFault, isFinalFault } from './reachability.js';
import { PlacingOperations } from './operators/placing-stop.js';
import { RejectedEventOperations } from './operators/rejected-events.js';
import { ReportOperations } from './report/reports.js';
import { ResultOperations } from './results.js';
import { noAnswerFromTemporal, temporalErrorOf } from './temporal-errors.js';
import { WebhookOperations } from './operators/webhook-endpoints.js';
import { TemporalCalls } from './workflow-calls.js';

export interface LabOperationsOptions {
  /** The worker's task queue. Default `lab-operations`. */
  taskQueue?: string;
  /**
   * Access to the lab service, for what needs no workflow: `results`, `documents`, `catalogue`, `orders.read` and `search`,
   * `matchReviews.read` and `search`, `reports.read`, biomarkers, service centres, the reasons for cancelling an appointment,
   * providers and connections of links, and users except for requesting their deletion. Without it everything else works, and
   * these throw `ServiceNotConfigured`.
   */
  service?: Omit<ServiceConfig, 'installation'>;
  /**
   * The worker's installation: its name, or a list of its name and its former names. Production requires it with `service`. Default: in `connect` the settings
   * LABOPS_INSTALLATION and LABOPS_FORMER_INSTALLATIONS; else `default`.
   */
  installation?: string | Installation;
  /** The default deadline of calls. Without it, each method has its own, stated in its doc. */
  deadline?: Deadline;
  /**
   * `required`: a client without encryption keys throws `EncryptionKeysMissing` at once. `optional`: its payloads are
   * readable in Temporal. Default: in `connect` the setting LABOPS_ENCRYPTION; else `required` if NODE_ENV is production. Elsewhere a
   * client without keys asks before it sends whether the workers encrypt, and throws if they do.
   */
  encryption?: Encryption;
  /**
   * Who calls: your id of a person or a program, `^[A-Za-z0-9._:-]{1,128}$`, never a name. Every command and start carries it; state,
   * timeline and case file show it beside what somebody decided. Default: in `connect` the setting LABOPS_ACTOR; else nobody is named.
   */
  actor?: string;
  /**
   * Called before this client answers with what the lab service says of a person: once per request, never with a value. A callback that
   * throws or rejects does not end the call: Node reports it as a warning with the code LABOPS_READ_NOT_RECORDED.
   */
  onRead?: OnRead;
}

/** Each of these options replaces the setting of the same meaning. */
export interface ConnectOptions extends LabOperationsOptions {
  /**
   * The worker's encryption keys, as `parseKeyRing` reads them, or a function that gives them, which is called every half minute. Default:
   * the setting LABOPS_ENCRYPTION_KEYS or its file.
   */
  encryptionKeys?: string | (() => string | Promise<string>);
  /** The profile of Temporal's configuration file whose settings count where TEMPORAL_… gives none. Default: TEMPORAL_PROFILE, else `default`. */
  profile?: string;
  /** Temporal's `host:port`. Default: TEMPORAL_ADDRESS, else `localhost:7233`. */
  address?: string;
  /** Temporal's namespace. Default: TEMPORAL_NAMESPACE, else `default`. */
  namespace?: string;
  /** Temporal's API key, or a function that gives it for each call. Default: TEMPORAL_API_KEY or its file. */
  apiKey?: NonNullable<ConnectionOptions['apiKey']>;
  /** True, or certificates. Default: the settings TEMPORAL_TLS…; with an API key true. */
  tls?: NonNullable<ConnectionOptions['tls']>;
  /** Who calls, as histories show it: an opaque name of a program or a role. Default: the actor, else the SDK's, process and host. */
  identity?: string;
  /**
   * An address that refuses the connection, or whose name cannot be found, ends the attempt at once, which suits a person at a shell.
   * Default false: it is tried again until the time is up, as a service that starts beside Temporal needs it.
   */
  refusalIsFinal?: boolean;
}

/** The SDK's default. */
const longestConnectMs = 10_000;

/**
 * Lab operations for a product backend: starts and commands the durable workflows that a worker runs. It talks to
 * Temporal, and to the lab service for what needs no workflow.
 */
export class LabOperations {
  readonly orders: OrderOperations;
  readonly links: LinkOperations;
  readonly users: UserOperations;
  readonly reports: ReportOperations;
  /** Lab values, straight from the lab service. */
  readonly results: ResultOperations;
  /** PDFs of results, requisitions, instructions and labels. */
  readonly documents: DocumentOperations;
  /** Lab tests, markers and lab accounts. */
  readonly catalogue: CatalogueOperations;
  /** Stops and resumes everything that creates orders and appointments. */
  readonly placing: PlacingOperations;
  readonly rejectedEvents: RejectedEventOperations;
  /** Notifications that your endpoint did not accept before their workflow ended. */
  readonly notifications: NotificationOperations;
  /** The endpoints that the service delivers events to; `createWebhookHandler` receives the events. */
  readonly webhooks: WebhookOperations;
  readonly appointments: AppointmentOperations;
  /** Results that the service could not match with an order. */
  readonly matchReviews: MatchReviewOperations;
  readonly #options: LabOperationsOptions;
  readonly #temporal: Client;
  readonly #checked: Client;
  readonly #calls: TemporalCalls;
  readonly #service: LabService | undefined;
  readonly #installation: string | Installation | undefined;
  readonly #closeConnection: (() => Promise<void>) | undefined;
  readonly #isDerived: boolean;

  /**
   * @param given a client of yours, which you close yourself. Give its connection the options of `reconnection`. If the worker has
   * encryption keys, the client needs them too, as its `dataConverter`: see `labDataConverter`
   * @param of the client whose connections this one shares
   * @throws EncryptionKeysMissing, InstallationInvalid, ActorInvalid
   */
  constructor(
    given: Client,
    options: LabOperationsOptions = {},
    closeConnection?: () => Promise<void>,
    of?: LabOperations,
  ) {
    const { taskQueue = defaultTaskQueue, encryption = defaultEncryption(), deadline, actor, onRead } = options;
    requireActor(actor);
    this.#options = options;
    this.#temporal = given;
    this.#checked = of ? of.#checked : withPayloadLimit(withKeysRequired(given, taskQueue, encryption));
    this.#service = of
      ? of.#service
      : options.service && createLabService({ ...options.service, installation: installationOf(options.installation) });
    this.#installation = options.installation;
    this.#closeConnection = closeConnection;
    this.#isDerived = of !== undefined;
    const temporal = withIdentityOf(this.#checked, actor);
    const calls = new TemporalCalls(temporal, {
      taskQueue,
      deadline,
      ...(actor !== undefined && { actor: { by: actor } }),
      ...(of && { abandoned: of.#calls.abandoned }),
    });
    this.#calls = calls;
    const report = onRead && reporterOf({ onRead, actor });
    const service = this.#service && report ? withReads(this.#service, report) : this.#service;
    const access: ServiceAccess = { calls, service, report };
    this.orders = new OrderOperations(access);
    this.links = new LinkOperations(access);
    this.users = new UserOperations(access);
    this.reports = new ReportOperations(access);
    this.results = new ResultOperations(access);
    this.documents = new DocumentOperations(access);
    this.catalogue = new CatalogueOperations(access);
    this.placing = new PlacingOperations(calls);
    this.rejectedEvents = new RejectedEventOperations(calls);
    this.notifications = new NotificationOperations(calls);
    this.webhooks = new WebhookOperations(calls);
    this.appointments = new AppointmentOperations(access);
    this.matchReviews = new MatchReviewOperations(access);
  }

  /**
   * Connects by `options`. What they leave out comes from Temporal's standard settings (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
   * TEMPORAL_API_KEY, TEMPORAL_TLS…, or a profile of its configuration file) and from LABOPS_ENCRYPTION_KEYS. Both secrets may be in
   * files (TEMPORAL_API_KEY_FILE, LABOPS_ENCRYPTION_KEYS_FILE), which are read again every ten and every thirty seconds, so keys can be
   * replaced while the process runs.
   * Gives up after ten seconds, or after `deadline` if that is shorter. After an outage of Temporal it reconnects within five seconds.
   * @throws KeyRingInvalid, EncryptionKeysMissing, EncryptionSettingInvalid, InstallationInvalid, ActorInvalid, TemporalSettingInvalid, TemporalUnreachable
   */
  static async connect(options: ConnectOptions = {}): Promise<LabOperations> {
    const { encryptionKeys, identity } = options;
    const { encryption = readEncryption(), installation = readInstallation(), actor = readActor() } = options;
    requireActor(actor);
    const settings = readTemporalSettings(undefined, options.profile);
    const file = options.apiKey === undefined ? temporalKeyFile() : undefined;
    const { namespace = settings.namespace ?? 'default' } = options;
    const connectionOptions = { ...settings.connectionOptions, ...givenOf(options, settings) };
    const connectTimeout = Math.min(longestConnectMs, millisecondsOf(options.deadline ?? 'none'));
    const keys = await within(connectTimeout, keysOf(encryptionKeys)).catch((error: unknown) => {
      throw error instanceof DeadlinePassed
        ? new KeyRingInvalid(['cannot be read: encryptionKeys does not answer'])
        : error;
    });
    if (!keys && encryption === 'required') throw new EncryptionKeysMissing(encryptionRequired);
    const { address = 'localhost:7233' } = connectionOptions;
    const described = { ...connectionOptions, address };
    const connecting = Connection.connect(throughProxy({ ...described, ...reconnection, connectTimeout }));
    const refusal = options.refusalIsFinal === true ? connectionFault(described, connectTimeout) : undefined;
    const attempts = [connecting, ...(refusal ? [rejectionBy(refusal)] : [])];
    const connection = await Promise.race(attempts).catch(async (error: unknown) => {
      keys?.stop();
      void connecting.then(
        (late) => late.close(),
        () => undefined,
      );
      if (error instanceof TemporalSettingInvalid) throw error;
      const endpoint = { address: addressAndWay(address), namespace };
      const known = temporalErrorOf(error, endpoint);
      throw known ?? noAnswerFromTemporal(endpoint, error, '', await (refusal ?? connectionFault(described)));
    });
    const temporal = new Client({
      connection,
      namespace,
      ...(identity !== undefined && { identity }),
      ...(keys && { dataConverter: labDataConverter(keys) }),
    });
    const unfollow = followKeyFile(connection, { apiKey: settings.connectionOptions.apiKey, file });
    const given = {
      ...options,
      ...(encryption && { encryption }),
      ...(installation && { installation }),
      ...(actor !== undefined && { actor }),
    };
    return new LabOperations(temporal, given, () => {
      unfollow();
      keys?.stop();
      return connection.close();
    });
  }

  /**
   * The same client for another actor, over the same connections: make one for each request of a backend that serves many people. Closing
   * it closes nothing.
   * @throws ActorInvalid
   */
  as(actor: string): LabOperations {
    return new LabOperations(this.#temporal, { ...this.#options, actor }, undefined, this);
  }

  /** The Temporal client that was given, or that `connect` made: `createWebhookHandler` needs it. */
  get temporal(): Client {
    return this.#temporal;
  }

  /**
   * The installation, for `createWebhookHandler`.
   * @throws InstallationInvalid
   */
  get installation(): Installation {
    return installationOf(this.#installation);
  }

  /** The option, or the setting in `connect`, or what counts without both: for `createWebhookHandler`. */
  get encryption(): Encryption | undefined {
    return this.#options.encryption ?? defaultEncryption();
  }

  /**
   * True if a worker has polled the task queue within the last two minutes: without one, what is started waits. Deadline:
   * 30 seconds.
   * @throws TimedOut, TemporalUnreachable, TemporalRefused
   */
  async hasWorker(options: CallOptions = {}): Promise<boolean> {
    return this.#calls.hasWorker(options);
  }

  /** Closes the connections that it opened: to Temporal, if it connected, and to the service. */
  async close(): Promise<void> {
    if (this.#isDerived) return;
    await this.#service?.close();
    if (!this.#closeConnection) return;
    await this.#calls.abandoned.settled();
    await this.#closeConnection();
  }
}

/** Rejects if the fault is final, and never settles otherwise. */
async function rejectionBy(refusal: Promise<string | undefined>): Promise<never> {
  const fault = await refusal;
  if (isFinalFault(fault)) throw new Error(fault);
  return new Promise(() => undefined);
}

/** Follows a source that can change: a function or a file. @throws KeyRingInvalid */
async function keysOf(given: ConnectOptions['encryptionKeys']): Promise<LiveKeys | undefined> {
  if (typeof given === 'function') return followKeys(async () => parseKeyRing(await given()));
  if (given !== undefined) return fixedKeys(parseKeyRing(given));
  const ring = readKeyRing();
  const file = keyRingFile();
  if (file !== undefined) return followKeys(() => keyRingIn(file));
  return ring && fixedKeys(ring);
}

/** @throws TemporalSettingInvalid */
function givenOf({ address, apiKey, tls }: ConnectOptions, { connectionOptions }: ClientConnectConfig) {
  const fault = address === undefined ? undefined : addressFault(address);
  if (fault !== undefined) throw new TemporalSettingInvalid(fault, 'address');
  // With a key TLS is on unless somebody says otherwise; so are the certificates of the settings.
  const encrypted = tls ?? connectionOptions.tls ?? (apiKey === undefined ? undefined : true);
  return {
    ...(address !== undefined && { address }),
    ...(apiKey !== undefined && { apiKey: checkedKey(apiKey) }),
    ...(encrypted !== undefined && { tls: encrypted }),
  };
}

/** Checks every key: gRPC's own error would quote one that no header can hold. A key that is read from a file ends with a line break. */
function checkedKey(apiKey: string | (() => string)): string | (() => string) {
  if (typeof apiKey === 'function') return () => checkedText(apiKey());
  return checkedText(apiKey);
}

function checkedText(apiKey: string): string {
  const key = apiKey.trim();
  const fault = key === '' ? 'is empty' : headerFault(key);
  if (fault !== undefined) throw new TemporalSettingInvalid(fault, 'apiKey');
  return key;
}
