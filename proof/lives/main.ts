import './sandbox.js';
import { commandLine } from '../../tools/command-line.js';
import { kinds, live } from './lives.js';

/* Plays lives of the workflows against a service that answers late, not at all, or after the fact: `npm run lives`. */

const program = commandLine(
  'lives',
  'Plays random lives of the workflows, with calls that stay open, and replays each.',
)
  .option('--seed <number>', 'the first seed', '1')
  .option('--lives <number>', 'how many of each workflow', '1000')
  .option('--of <workflow>', `only one of ${Object.keys(kinds).join(', ')}`)
  .option('--most <number>', 'stories of each violated claim', '1')
  .addHelpText(
    'after',
    '\nA life is played again by its seed: --of kitOrder --seed 4711 --lives 1. Exit status 1: a claim is broken.',
  )
  .parse();
const { seed, lives, of, most } = program.opts<Record<'seed' | 'lives' | 'most', string> & { of?: string }>();
if (of !== undefined && !Object.hasOwn(kinds, of)) program.error(`No lives of ${of} are played.`);

for (const name of of === undefined ? Object.keys(kinds) : [of]) {
  const startedAt = performance.now();
  const totals: Record<string, number> = {};
  const broken = new Map<string, number[]>();
  for (let each = Number(seed); each < Number(seed) + Number(lives); each += 1) {
    const { counts, violations, story } = await live(name, each);
    for (const [what, many] of Object.entries(counts)) totals[what] = (totals[what] ?? 0) + many;
    for (const { claim, what } of violations) {
      const kind = claim.startsWith('a replay')
        ? claim
        : `${claim}: ${what.replaceAll(/\d[\d.:TZ-]*/g, '#').slice(0, 160)}`;
      const seeds = broken.get(kind) ?? [];
      broken.set(kind, [...seeds, each]);
      if (seeds.length < Number(most))
        console.log(`\n${name}, seed ${each}: ${claim}\n  ${what}\n  ${story.join('\n  ')}\n`);
    }
    if (Number(lives) === 1 && violations.length === 0) console.log(story.join('\n'));
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const counted = Object.entries(totals).map(([what, many]) => `${many} ${what}`);
  console.log(`${name}: ${lives} lives, ${counted.join(', ')}; ${seconds.toFixed(1)} s`);
  for (const [claim, seeds] of broken) {
    process.exitCode = 1;
    console.log(`  BROKEN in ${seeds.length} lives: ${claim} (seeds ${seeds.slice(0, 8).join(', ')})`);
  }
}
