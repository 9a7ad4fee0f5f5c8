import { Client, Connection } from '@temporalio/client';
import { createLabService, labDataConverter, LabOperations, parseKeyRing } from '../../client/index.js';
import { throughProxy } from '../../client/proxied.js';
import { sandboxControl } from '../control.js';
import { Calendar } from './calendar.js';
import type { Closing } from './closing.js';
import type { DemoConfig } from './config.js';
import type { Keyboard } from './keyboard.js';
import type { Screen } from './screen.js';
import { startServers, type Servers } from './servers.js';
import { leaveLostOrder, playReplacement } from './left-over.js';
import { OneAtATime, type Scenery } from './stage.js';
import { isExact, showAddresses, showEndings, takeTally } from './summary.js';
import { playStories } from './playing.js';

/** Somebody ended the demo before its stories had ended. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals) {
    super(`Interrupted by ${signal}`);
    this.signal = signal;
  }
}

export interface Demo {
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
