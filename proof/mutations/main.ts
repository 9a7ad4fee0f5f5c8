import { readFileSync } from 'node:fs';
import { commandLine } from '../../tools/command-line.js';
import { contextOf, equivalentOf, equivalents, type Equivalent } from './equivalent.js';
import { groupOf, groups } from './groups.js';
import { instrument, type Mutant } from './instrument.js';
import { tryChanges } from './trial.js';

/*
 * Changes the pure files and the glue one spot at a time and runs the unit tests that import them: `npm run mutations`, or
 * `npm run mutations -- <group or file> …`. Every change that no test noticed must have its reason, in equivalent.txt if it
 * makes no difference, else in survivors.txt. `--survivors` lists those without one, as that file wants them.
 */

const program = commandLine(
  'mutations',
  'Changes workflow code one spot at a time and runs the unit tests that reach it.',
)
  .argument('[names...]', `groups (${Object.keys(groups).join(', ')}) or files; all groups if there is none`)
  .option('--survivors', 'lists every change that no test noticed and that has no reason yet')
  .addHelpText(
    'after',
    '\nExit status 1: a change was not noticed and has no reason, or a reason stands beside no such change.',
  )
  .parse();
const chosen = program.args.length === 0 ? Object.keys(groups) : program.args;
const { survivors: listsSurvivors } = program.opts<{ survivors?: true }>();

/** Of what is changed: enough to tell one change from another. */
const longest = 160;
const inUse = new Set<Equivalent | string>();
/** Changes that make a difference and that no test notices: the indented lines, each below the reason why that was accepted. */
const accepted = new Set(readFileSync(new URL('survivors.txt', import.meta.url), 'utf8').match(/^ {2}.+/gm));

const { texts, mutants } = await instrument(chosen.map(groupOf));
const mutated = new Set(mutants.map(({ fileName }) => fileName));
refuseGone();
const ids = mutants.filter(({ isIgnored }) => !isIgnored).map(({ id }) => id);
const { noticed, reached, whenLoaded } = await tryChanges({ texts, ids });
/** Without what only the loading of a file reaches. */
const counted = mutants.filter(({ id, isIgnored }) => !isIgnored && (reached.has(id) || !whenLoaded.has(id)));

console.log('| File | Mutants | Noticed | Equivalent | Not reached | Not noticed | Share |');
console.log('| --- | --- | --- | --- | --- | --- | --- |');
for (const file of mutated) report(file);
for (const survivor of accepted) {
  if (isTried(survivor) && !inUse.has(survivor))
    fail(`A test notices this change; remove it from survivors.txt:${survivor}`);
}
if (program.args.length === 0) {
  for (const { reason, at } of equivalents.filter((each) => !inUse.has(each))) {
    fail(`No change is equivalent by ${String(at)} any more (${reason}); remove it from equivalent.txt.`);
  }
}

/** Before anything is tried: a reason whose line has gone, or is written in another way, excuses nothing. */
function refuseGone(): void {
  const contents = new Map([...mutated].map((file) => [file, readFileSync(file, 'utf8')]));
  const possible = new Set(mutants.map((mutant) => survivorOf(mutant, contents.get(mutant.fileName) ?? '')));
  const known = Object.values(groups).flatMap(({ files }) => files);
  const isGone = (survivor: string) =>
    isTried(survivor) ? !possible.has(survivor) : !known.some((file) => survivor.startsWith(`  ${file}: `));
  const gone = [...accepted].filter(isGone);
  if (gone.length > 0)
    program.error(`These lines have gone; correct or remove them in survivors.txt:\n${gone.join('\n')}`);
}

function isTried(survivor: string): boolean {
  return [...mutated].some((file) => survivor.startsWith(`  ${file}: `));
}

function fail(sentence: string): void {
  console.log(sentence);
  process.exitCode = 1;
}

function report(file: string): void {
  const text = readFileSync(file, 'utf8');
  const all = counted.filter(({ fileName }) => fileName === file);
  const left = all.filter(({ id }) => !noticed.has(id));
  const open = left.filter((mutant) => !isEquivalent(mutant, text));
  const equivalent = left.length - open.length;
  const share = all.length === equivalent ? 100 : (100 * (all.length - left.length)) / (all.length - equivalent);
  const unreached = open.filter(({ id }) => !reached.has(id)).length;
  const numbers = [all.length, all.length - left.length, equivalent, unreached, open.length - unreached];
  console.log(`| ${[`\`${file}\``, ...numbers, `${share.toFixed(1)} %`].join(' | ')} |`);
  const survivors = open.map((mutant) => survivorOf(mutant, text));
  for (const survivor of survivors) inUse.add(survivor);
  const unexplained = survivors.filter((survivor) => !accepted.has(survivor));
  if (unexplained.length > 0) process.exitCode = 1;
  if (listsSurvivors) for (const survivor of unexplained) console.log(survivor);
}

function isEquivalent(mutant: Mutant, text: string): boolean {
  const found = equivalentOf(mutant, text);
  if (found) inUse.add(found);
  return found !== undefined;
}

function survivorOf(mutant: Mutant, text: string): string {
  const inLine = (written: string) => written.replace(/\s+/g, ' ').trim().slice(0, longest);
  return `  ${mutant.fileName}: ${inLine(contextOf(mutant, text))} ⇒ ${inLine(mutant.replacement)}`;
}
