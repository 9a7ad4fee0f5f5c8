import { commandLine } from '../../tools/command-line.js';
import { longSearches, quickSearches } from './models.js';

/* Explores every state of the workflows within small bounds: `npm run model`, or `npm run model -- --quick` for seconds. */

const program = commandLine('model', 'Explores every state of the workflows within small bounds.')
  .argument(
    '[name]',
    'only the searches with this in their name: order, link, report, deletion, appointment, match review',
  )
  .option('--quick', 'only those that take seconds')
  .addHelpText('after', '\nExit status 1: a claim is broken, or a search has not come to its end.')
  .parse();
const [wanted = ''] = program.args;
const searches = [...quickSearches, ...(program.opts<{ quick?: true }>().quick ? [] : longSearches)].filter(
  ({ name }) => name.includes(wanted),
);
if (searches.length === 0) program.error(`No search has "${wanted}" in its name.`);

console.log('| Search | Bounds | States | Transitions | Ends | Broken claims | Seconds |');
console.log('| --- | --- | --- | --- | --- | --- | --- |');
for (const { name, bounds, explore } of searches) {
  const startedAt = performance.now();
  const { states, transitions, ends, faults, isComplete } = await explore();
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log(`| ${[name, bounds, states, transitions, ends, faults.length, seconds].join(' | ')} |`);
  for (const fault of faults) console.error(`\n${fault}\n`);
  if (faults.length > 0 || !isComplete) process.exitCode = 1;
}
