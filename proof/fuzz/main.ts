import '../lives/sandbox.js';
import { commandLine, wholeNumber } from '../../tools/command-line.js';
import { fuzzAnswers } from './answers.js';
import { fuzzInputs } from './inputs.js';
import { Random } from './random.js';
import { Tally } from './tally.js';
import { fuzzWebhooks } from './webhooks.js';
import { fuzzWebhooksOverHttp } from './raw-http.js';
import { fuzzWorkflows } from './workflows.js';

/* `npm run fuzz -- --seed 1 --webhooks 1000000`: bad input of every kind, from a seed. docs/internals/proof.md, "Bad input". */

const { seed, ...counts } = commandLine('fuzz', 'Gives bad input of every kind to what reads it.')
  .option('--seed <number>', 'decides the cases', wholeNumber, 1)
  .option('--webhooks <number>', 'webhooks, in this process', wholeNumber, 20_000)
  .option('--http <number>', 'webhooks over HTTP', wholeNumber, 2_000)
  .option('--answers <number>', 'answers of the service', wholeNumber, 5_000)
  .option('--inputs <number>', 'inputs and settings', wholeNumber, 5_000)
  .option('--workflows <number>', 'workflows with their inputs, signals and commands', wholeNumber, 5_000)
  .addHelpText('after', '\nExit status 1: a claim is broken. What broke it is printed.')
  .parse()
  .opts<Record<'seed' | 'webhooks' | 'http' | 'answers' | 'inputs' | 'workflows', number>>();

let unhandled = 0;
process.on('unhandledRejection', (reason) => {
  unhandled += 1;
  console.error('An unhandled rejection:', reason);
});
// One warning for each answer without an expiry would hide the rest.
process.removeAllListeners('warning');

type Part = readonly [
  name: string,
  count: number,
  fuzz: (random: Random, count: number, tally: Tally) => Promise<void>,
];

const parts: readonly Part[] = [
  ['webhooks, in this process', counts.webhooks, fuzzWebhooks],
  ['webhooks, over HTTP', counts.http, fuzzWebhooksOverHttp],
  ['answers of the service', counts.answers, fuzzAnswers],
  ['inputs and settings', counts.inputs, fuzzInputs],
  ['workflows', counts.workflows, fuzzWorkflows],
];

function print({ part, cases, outcomes, slowest, mostRss, findings, broken }: Tally, seconds: number): void {
  const rate = Math.round(cases / seconds);
  console.log(`\n${part}: ${cases} cases in ${Math.round(seconds)} s (${rate}/s)`);
  for (const [outcome, times] of [...outcomes].toSorted(([one], [other]) => (one < other ? -1 : 1)))
    console.log(`${String(times).padStart(9)}  ${outcome}`);
  const memory = Math.round(Math.max(mostRss, process.memoryUsage.rss()) / 1_000_000);
  console.log(
    `slowest ${Math.round(slowest.ms)} ms (${slowest.bytes} bytes), RSS at most ${memory} MB, ${broken} findings`,
  );
  for (const { problem, input } of findings) console.error(`FINDING ${problem}\n  ${input.slice(0, 2_000)}`);
}

console.log(`seed ${seed}`);
let broken = 0;
for (const [name, count, fuzz] of parts) {
  if (count === 0) continue;
  const tally = new Tally(name, (so) => console.log(`… ${so.cases} cases, ${so.broken} findings`));
  const started = performance.now();
  await fuzz(new Random(seed), count, tally);
  print(tally, (performance.now() - started) / 1_000);
  broken += tally.broken;
}
console.log(`\n${broken} findings, ${unhandled} unhandled rejections`);
process.exitCode = broken + unhandled === 0 ? 0 : 1;
