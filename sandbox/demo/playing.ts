import { setTimeout as pause } from 'node:timers/promises';
import { labelWidth, legend, Narrator } from './narrator.js';
import { Occurrences } from './notifications.js';
import { programme, type Act } from './stories/programme.js';
import type { Screen } from './screen.js';
import { StoryFailed, Stage, type Scenery, type Story } from './stage.js';

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
