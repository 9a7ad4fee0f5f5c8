import { setTimeout as pause } from 'node:timers/promises';
import { labelWidth, legend, Narrator } from './narrator.js';
import { Occurrences } from './notifications.js';
import { type Act, programme } from './stories/programme.js';
import type { Screen } from './screen.js';
import { type Scenery, Stage, type Story, StoryFailed } from './stage.js';
import type { SandboxControl } from '../control.js';
import type { Servers } from './servers.js';

export interface Ending {
  story: Story;
  /** How it ended, or why it failed. */
  text: string;
  succeeded: boolean;
  uiUrl?: string;
}

/** The longest story takes two weeks; one that stands still for so long will never go on. */
const longestStoryDays = 45;

/** On a machine under load the days are not what takes the time. */
const leastPatienceMs = 180_000;

/** Plays the stories, act after act, or those of one act, and returns how each of them ended. */
export async function playStories(
  scenery: Scenery,
  screen: Screen,
  signal: AbortSignal,
  onlyAct?: number,
): Promise<Ending[]> {
  screen.line(`\n  ${legend}`);
  const endings: Ending[] = [];
  for (const [index, act] of programme.entries()) {
    if (signal.aborted) break;
    const number = index + 1;
    if (onlyAct !== undefined && onlyAct !== number) continue;
    announce(act, number, screen);
    const stories = act.stories.map((story) => play(story, scenery, screen, signal));
    endings.push(...(await Promise.all(stories)));
  }
  return endings;
}

function announce({ title, stories }: Act, number: number, screen: Screen): void {
  screen.heading(`Act ${number} of ${programme.length} · ${title}`);
  for (const { label, colour, promise } of stories) {
    screen.line(`  ${screen.styled(colour, label.padEnd(labelWidth))} ${promise}`);
  }
  screen.line();
}

async function play(story: Story, scenery: Scenery, screen: Screen, signal: AbortSignal): Promise<Ending> {
  const narrator = new Narrator(screen, scenery.calendar, story);
  const over = new AbortController();
  const troubles = new Occurrences<Error>();
  const stage = new Stage(scenery, story, narrator, AbortSignal.any([signal, over.signal]), (error) =>
    troubles.add(error),
  );
  const trouble = troubles
    .first(() => true)
    .then((error) => {
      throw error;
    });
  const ending = await Promise.race([
    story.play(stage),
    trouble,
    tooLate(patienceFor(story, scenery), over.signal),
  ]).then(
    (text) => ({ text, succeeded: true }),
    (error: unknown) => ({ text: error instanceof Error ? error.message : String(error), succeeded: false }),
  );
  over.abort();
  if (ending.succeeded) narrator.succeeded(ending.text);
  else if (!signal.aborted) narrator.failed(ending.text);
  return { story, ...ending, ...(stage.uiUrl !== undefined && { uiUrl: stage.uiUrl }) };
}

function patienceFor({ patienceMs = leastPatienceMs }: Story, { calendar }: Scenery): number {
  return Math.max(longestStoryDays * calendar.dayMs, patienceMs);
}

async function tooLate(patienceMs: number, signal: AbortSignal): Promise<never> {
  await pause(patienceMs, undefined, { signal });
  throw new StoryFailed(`the story did not end within ${patienceMs / 1000} s`);
}

/** How many kits and links all stories have made: exactly one kit for each that was ordered. */
export interface Tally {
  /** Kits that somebody asked the lab service for, and that it made. */
  made: number;
  /** Kits that the lab service made by itself. */
  redrawn: number;
  /** References that the product placed. */
  placed: number;
  replacements: number;
  /** Creations whose answer never arrived. */
  lostAnswers: number;
  /** Links that ended with a connection. */
  connected: number;
  /** Codes that reached a provider. */
  codes: number;
}

export async function takeTally(control: SandboxControl): Promise<Tally> {
  const orders = await control.orders();
  const tokens = await control.linkTokens();
  const posts = await control.requests({ method: 'POST' });
  const creations = posts.filter(({ path }) => path === '/v3/order/testkit');
  const asked = orders.map(({ passthrough }) => passthrough).filter((passthrough) => passthrough !== null);
  // Each of our creations names its reference and its number in it: 1 is the first kit, the others replace one.
  const firsts = new Set(asked.filter((passthrough) => passthrough.endsWith(':1')));
  const others = new Set(asked.filter((passthrough) => !passthrough.endsWith(':1')));
  return {
    made: asked.length,
    redrawn: orders.filter((order) => order.passthrough === null && order.kit_sample_id !== null).length,
    placed: firsts.size,
    replacements: others.size,
    lostAnswers: creations.filter(({ outcome }) => outcome === 'dropped').length,
    connected: tokens.filter(({ state }) => state === 'consumed').length,
    codes: posts.filter(({ path }) => path.endsWith('/complete_mfa')).length,
  };
}

/** True if every order that was placed has exactly one kit. */
export function isExact({ made, placed, replacements }: Tally): boolean {
  return made === placed + replacements;
}

/** Shows how every story ended, with the Web UI's page of its workflow. */
export function showEndings(endings: readonly Ending[], tally: Tally, seconds: number, screen: Screen): void {
  const succeeded = endings.filter((ending) => ending.succeeded).length;
  screen.heading(`${succeeded} of ${endings.length} stories succeeded, in ${seconds} s`);
  for (const ending of endings) {
    const mark = ending.succeeded ? screen.styled(['bold', 'green'], '✔') : screen.styled(['bold', 'red'], '✘');
    screen.line(
      `  ${mark} ${screen.styled(ending.story.colour, ending.story.label.padEnd(labelWidth))} ${ending.text}`,
    );
    if (ending.uiUrl !== undefined) screen.line(`               ${screen.styled('gray', ending.uiUrl)}`);
  }
  screen.line();
  const mark = isExact(tally) ? screen.styled(['bold', 'green'], '✔') : screen.styled(['bold', 'red'], '✘');
  const { placed, replacements, made, lostAnswers, redrawn, connected, codes } = tally;
  screen.line(
    `  ${mark} kits       ${made}: ${count(placed, 'order')} and ${count(replacements, 'replacement')}, with ` +
      `${count(lostAnswers, 'lost answer')}; the lab made ${redrawn} more by itself`,
  );
  screen.line(`    links      ${connected} connected, with ${count(codes, 'code')} sent to the provider`);
}

/** Shows where to look while everything stays up. */
export function showAddresses(servers: Servers, lostOrderId: string, logFolder: string, screen: Screen): void {
  const rows = [
    ['Web UI', `${servers.uiUrl}/namespaces/default/workflows`],
    ['Codec server', `${servers.codecUrl} (it decrypts the histories for the Web UI)`],
    ['Temporal', servers.temporalAddress],
    ['Lab service', `${servers.sandboxUrl} (control interface below /_sandbox/)`],
    ['Ingress', `${servers.ingressUrl}/webhooks`],
    ['Logs', logFolder],
  ];
  screen.heading('Everything stays up until Ctrl-C');
  for (const [name = '', where = ''] of rows) screen.line(`  ${screen.styled('bold', name.padEnd(12))} ${where}`);
  screen.heading('One order needs a person');
  screen.line('  Its kit is lost. In the Web UI the search LabAttention IS NOT NULL finds it. In another terminal:\n');
  // The keys were made for this run, and what they protect is invented.
  screen.line(`export TEMPORAL_ADDRESS=${servers.temporalAddress} LABOPS_ENCRYPTION_KEYS=${servers.encryptionKeys}`);
  screen.line(`export SERVICE_BASE_URL=${servers.sandboxUrl} SERVICE_API_KEY=${servers.serviceApiKey}`);
  screen.line('npx --no -- labops orders list --attention');
  screen.line(`npx --no -- labops orders resolve-problem ${lostOrderId} --decision replace`);
  screen.line(
    '\n  The second kit then travels like the others, and the order ends with results: see `labops orders show`.',
  );
  screen.line();
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
