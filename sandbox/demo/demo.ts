import { Client, Connection } from '@temporalio/client';
import {
  createLabService,
  labDataConverter,
  LabOperations,
  parseKeyRing,
  type OrderHandle,
} from '../../client/index.js';
import { throughProxy } from '../../client/temporal-connection.js';
import { sandboxControl } from '../control.js';
import { Calendar } from './narrator.js';
import type { Closing } from './closing.js';
import type { DemoConfig } from './config.js';
import type { Keyboard, Screen } from './screen.js';
import { startServers, type Servers } from './servers.js';
import { OneAtATime, type Scenery } from './stage.js';
import { isExact, showAddresses, showEndings, takeTally, playStories } from './playing.js';
import { lowLevel } from '../lab-service/lifecycle.js';
import { labTestIds } from '../lab-service/seed.js';
import { withResults } from './stories/journeys.js';
import { address, registrationOf, watching } from './played-order.js';

/** Somebody ended the demo before its stories had ended. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals) {
    super(`Interrupted by ${signal}`);
    this.signal = signal;
  }
}

interface Demo {
  once: boolean;
  /** The only act to play, from 1; all acts when not given. */
  act: number | undefined;
  config: DemoConfig;
  /** The folder of the servers' logs. */
  logFolder: string;
  /** Gets everything that has to be ended afterwards. */
  closing: Closing;
  screen: Screen;
  keyboard: Keyboard;
  interrupted: Promise<NodeJS.Signals>;
}

/**
 * Starts everything, plays the stories, and stays up unless it runs once.
 * @returns the exit status: 0 if every story succeeded
 * @throws Interrupted, ProgramFailed, PortsBusy, or why there is no Temporal
 */
export async function runDemo(demo: Demo): Promise<number> {
  const { once, act, config, logFolder, closing, screen, keyboard, interrupted } = demo;
  const stopping = new AbortController();
  const interruption = interrupted.then((signal) => {
    stopping.abort();
    throw new Interrupted(signal);
  });
  // Only the races below use it.
  interruption.catch(() => undefined);
  const say = (text: string): void => screen.line(screen.styled('gray', `  … ${text}`));

  screen.line(
    screen.styled('bold', `\n  Lab operations on Temporal: stories in which a day lasts ${config.daySeconds} s\n`),
  );
  const servers = await Promise.race([startServers(config, logFolder, closing, say), interruption]);
  screen.line(`  Web UI     ${servers.uiUrl}/namespaces/default/workflows`);
  const scenery = await Promise.race([setUp(servers, keyboard, config, closing), interruption]);
  const began = Date.now();
  const broken = servers.failed.then((reason) => {
    stopping.abort();
    throw reason;
  });
  const stories = playStories(scenery, screen, stopping.signal, act);
  const endings = await Promise.race([stories, broken, interruption]);
  const tally = await takeTally(scenery.control);
  showEndings(endings, tally, Math.round((Date.now() - began) / 1000), screen);
  const status = endings.every(({ succeeded }) => succeeded) && isExact(tally) ? 0 : 1;
  if (once) return status;
  const lost = await Promise.race([leaveLostOrder(scenery), broken, interruption]);
  showAddresses(servers, await lost.orderId(), logFolder, screen);
  playReplacement(lost, scenery, stopping.signal).catch((error: unknown) => {
    if (!stopping.signal.aborted) say(`the order that needs a person is no longer followed: ${String(error)}`);
  });
  const signal = await Promise.race([interrupted, broken]);
  screen.line(`\n  ${signal}: stopping everything.`);
  return status;
}

async function setUp(servers: Servers, keyboard: Keyboard, config: DemoConfig, closing: Closing): Promise<Scenery> {
  const connection = await Connection.connect(throughProxy({ address: servers.temporalAddress }));
  closing.use(
    () => connection,
    () => connection.close(),
  );
  const service = { baseUrl: servers.sandboxUrl, apiKey: servers.serviceApiKey };
  const dataConverter = labDataConverter(parseKeyRing(servers.encryptionKeys));
  const operations = closing.use(
    () => new LabOperations(new Client({ connection, dataConverter }), { service, deadline: 'none' }),
    (started) => started.close(),
  );
  const backend = closing.use(
    () => createLabService(service),
    (started) => started.close(),
  );
  const browser = closing.use(
    () => createLabService({ baseUrl: servers.sandboxUrl, apiKey: 'a-browser-has-none' }),
    (started) => started.close(),
  );
  const control = sandboxControl(servers.sandboxUrl);
  const calendar = new Calendar(config.daySeconds);
  await control.changeSettings({
    // A real lab knows the numbers on its kits.
    anySampleId: false,
  });
  return {
    operations,
    control,
    backend,
    browser,
    receiver: servers.receiver,
    calendar,
    uiUrl: servers.uiUrl,
    reportRoot: servers.reportRoot,
    healthDataUrl: servers.healthDataUrl,
    placing: new OneAtATime(),
    keyboard,
  };
}

/** Leaves an order that needs a person, for those who try the command line and the Web UI. */
async function leaveLostOrder({ operations, control, calendar }: Scenery): Promise<OrderHandle> {
  const { user } = await control.createUser();
  const order = { user_id: user.user_id, lab_test_id: labTestIds.kit, shipping_details: address };
  // In compressed days the order would be given up half a minute later, before anybody could look at it.
  const policy = { ...calendar.policy({}), decisionWait: '30d' } as const;
  const handle = await operations.orders.place({ reference: 'demo-left-over', kind: 'unregistered', order, policy });
  const orderId = await handle.orderId();
  for (const status of ['transit_customer', 'lost']) await control.move(orderId, status);
  for await (const { attention } of handle.watch({ ...watching, deadline: '1 minute' })) {
    if (attention.length > 0) break;
  }
  return handle;
}

/** If the operator decides on a replacement, it travels, its customer registers it, and it has results. Ends with the order. */
async function playReplacement(
  handle: OrderHandle,
  { control }: Pick<Scenery, 'control'>,
  signal: AbortSignal,
): Promise<void> {
  const playing = new Set<string>();
  for await (const state of handle.watch({ minInterval: '0.25s', maxInterval: '1s', signal })) {
    if (state.phase === 'placing') continue;
    const { orderId, registered, chain, timeline } = state;
    if (chain.at(-1)?.origin !== 'replacement') continue;
    if (!playing.has(orderId)) await control.playStory(orderId, withResults);
    playing.add(orderId);
    const hasKit = timeline.some((entry) => entry.orderId === orderId && lowLevel(entry.status) === 'with_customer');
    if (!hasKit || registered) continue;
    const { kit_sample_id: sampleId } = await control.order(orderId);
    await handle.register({ registration: registrationOf(sampleId ?? ''), orderId });
  }
}
