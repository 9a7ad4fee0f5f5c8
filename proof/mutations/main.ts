import { Stryker } from '@stryker-mutator/core';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { commandLine } from '../../tools/command-line.js';
import { contextOf, equivalentOf, equivalents, type Equivalent } from './equivalent.js';
import { groups } from './groups.js';

/*
 * Changes the pure files one spot at a time and runs the unit tests that import them: `npm run mutations`, or
 * `npm run mutations -- <group or file> …`. With `--survivors` every change that no test noticed is listed,
 * except those that make no difference (equivalent.ts).
 */

const program = commandLine(
  'mutations',
  'Changes the pure files one spot at a time and runs the unit tests that import them.',
)
  .argument('[names...]', `groups (${Object.keys(groups).join(', ')}) or files; all groups if there is none`)
  .option('--survivors', 'lists every change that no test noticed and that makes a difference')
  .parse();
const chosen = program.args.length === 0 ? Object.keys(groups) : program.args;
const { survivors: listsSurvivors } = program.opts<{ survivors?: true }>();

const inUse = new Set<Equivalent>();

console.log('| File | Mutants | Noticed | Equivalent | Not reached | Not noticed | Share |');
console.log('| --- | --- | --- | --- | --- | --- | --- |');
for (const each of chosen) {
  const mutate = [...(groups[each] ?? [each])];
  const results = await new Stryker({ configFile: 'proof/mutations/stryker.config.json', mutate }).runMutationTest();
  report(results);
}
if (program.args.length === 0) {
  for (const { reason, at } of equivalents.filter((each) => !inUse.has(each))) {
    console.log(`No change is equivalent by ${String(at)} any more (${reason}).`);
  }
}

type Mutants = Awaited<ReturnType<Stryker['runMutationTest']>>;

function report(mutants: Mutants): void {
  const files = new Set(mutants.map(({ fileName }) => fileName));
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    const counted = mutants.filter(({ fileName, status }) => fileName === file && status !== 'Ignored');
    const left = counted.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
    const open = left.filter((mutant) => !isEquivalent(mutant, text));
    const noticed = counted.length - left.length;
    const equivalent = left.length - open.length;
    const share = counted.length === equivalent ? 100 : (100 * noticed) / (counted.length - equivalent);
    const having = (wanted: string) => open.filter(({ status }) => status === wanted).length;
    const numbers = [counted.length, noticed, equivalent, having('NoCoverage'), having('Survived')];
    console.log(`| ${[`\`${relative('.', file)}\``, ...numbers, `${share.toFixed(1)} %`].join(' | ')} |`);
    if (!listsSurvivors) continue;
    for (const mutant of open) {
      const { location, mutatorName, replacement, status } = mutant;
      const [line = ''] = contextOf(mutant, text).split('\n');
      console.log(`  ${location.start.line} ${status} ${mutatorName} ${line.trim()} → ${replacement.slice(0, 100)}`);
    }
  }
}

function isEquivalent(mutant: Mutants[number], text: string): boolean {
  const found = equivalentOf(mutant, text);
  if (found) inUse.add(found);
  return found !== undefined;
}
