import { Stryker } from '@stryker-mutator/core';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { commandLine } from '../../tools/command-line.js';
import { contextOf, equivalentOf, equivalents, type Equivalent } from './equivalent.js';
import { addGlueMutators, glueMutations } from './glue-mutators.js';
import { groupOf, groups, type Group } from './groups.js';
import { accepted, type Survivor } from './survivors.js';
import config from './stryker.config.json' with { type: 'json' };

/*
 * Changes the pure files and the glue one spot at a time and runs the unit tests that import them: `npm run mutations`, or
 * `npm run mutations -- <group or file> …`. Every change that no test noticed must have its reason, in equivalent.ts if it
 * makes no difference, else in survivors.ts. `--survivors` lists those without one, as survivors.ts wants them.
 */

const program = commandLine(
  'mutations',
  'Changes workflow code one spot at a time and runs the unit tests that reach it.',
)
  .argument('[names...]', `groups (${Object.keys(groups).join(', ')}) or files; all groups if there is none`)
  .option('--survivors', 'lists every change that no test noticed and that has no reason yet')
  .option('--concurrency <number>', 'how many changes are tried at once', '2')
  .addHelpText('after', '\nExit status 1: a change was not noticed and has no reason.')
  .parse();
const chosen = program.args.length === 0 ? Object.keys(groups) : program.args;
const { survivors: listsSurvivors, concurrency } = program.opts<{ survivors?: true; concurrency: string }>();

type Mutants = Awaited<ReturnType<Stryker['runMutationTest']>>;

/** Of what is changed: enough to tell one change from another. */
const longest = 160;
const inUse = new Set<Equivalent | Survivor>();
const mutated = new Set<string>();

await addGlueMutators();
console.log('| File | Mutants | Noticed | Equivalent | Not reached | Not noticed | Share |');
console.log('| --- | --- | --- | --- | --- | --- | --- |');
for (const each of chosen) report(await mutantsOf(groupOf(each)));
for (const { reason, changes } of accepted) {
  const superfluous = changes.filter((change) => mutated.has(change[0]) && !inUse.has(change));
  for (const change of superfluous) console.log(`Noticed, or gone: ${written(change)} (${reason}).`);
}
if (program.args.length === 0) {
  for (const { reason, at } of equivalents.filter((each) => !inUse.has(each))) {
    console.log(`No change is equivalent by ${String(at)} any more (${reason}).`);
  }
}

async function mutantsOf({ files, isGlue }: Group): Promise<Mutants> {
  const { excludedMutations } = config.mutator;
  const stryker = new Stryker({
    configFile: 'proof/mutations/stryker.config.json',
    mutate: [...files],
    concurrency: Number(concurrency),
    mutator: { ...config.mutator, excludedMutations: [...excludedMutations, ...(isGlue ? [] : glueMutations)] },
    vitest: { configFile: `proof/mutations/${isGlue ? 'glue.' : ''}vitest.config.ts` },
  });
  return stryker.runMutationTest();
}

function report(mutants: Mutants): void {
  const files = new Set(mutants.map(({ fileName }) => fileName));
  for (const file of files) {
    const name = relative('.', file);
    mutated.add(name);
    const text = readFileSync(file, 'utf8');
    const counted = mutants.filter(({ fileName, status }) => fileName === file && status !== 'Ignored');
    const left = counted.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
    const open = left.filter((mutant) => !isEquivalent(mutant, text));
    const noticed = counted.length - left.length;
    const equivalent = left.length - open.length;
    const share = counted.length === equivalent ? 100 : (100 * noticed) / (counted.length - equivalent);
    const having = (wanted: string) => open.filter(({ status }) => status === wanted).length;
    const numbers = [counted.length, noticed, equivalent, having('NoCoverage'), having('Survived')];
    console.log(`| ${[`\`${name}\``, ...numbers, `${share.toFixed(1)} %`].join(' | ')} |`);
    const unexplained = open.map((mutant) => survivorOf(name, mutant, text)).filter((each) => !isAccepted(each));
    if (unexplained.length > 0) process.exitCode = 1;
    if (listsSurvivors) for (const survivor of unexplained) console.log(`      ${written(survivor)},`);
  }
}

function isEquivalent(mutant: Mutants[number], text: string): boolean {
  const found = equivalentOf(mutant, text);
  if (found) inUse.add(found);
  return found !== undefined;
}

function survivorOf(file: string, mutant: Mutants[number], text: string): Survivor {
  const inLine = (written: string) => written.replace(/\s+/g, ' ').trim().slice(0, longest);
  return [file, inLine(contextOf(mutant, text)), inLine(mutant.replacement)];
}

function isAccepted(survivor: Survivor): boolean {
  const found = accepted.flatMap(({ changes }) => changes).filter((each) => written(each) === written(survivor));
  for (const each of found) inUse.add(each);
  return found.length > 0;
}

function written(survivor: Survivor): string {
  return JSON.stringify(survivor);
}
