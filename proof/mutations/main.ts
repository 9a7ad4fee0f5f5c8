import { Stryker } from '@stryker-mutator/core';
import { relative } from 'node:path';
import { commandLine } from '../../tools/command-line.js';
import { groups } from './groups.js';

/*
 * Changes the pure files one spot at a time and runs the unit tests that import them: `npm run mutations`, or
 * `npm run mutations -- <group or file> …`. With `--survivors` every change that no test noticed is listed.
 */

const program = commandLine(
  'mutations',
  'Changes the pure files one spot at a time and runs the unit tests that import them.',
)
  .argument('[names...]', `groups (${Object.keys(groups).join(', ')}) or files; all groups if there is none`)
  .option('--survivors', 'lists every change that no test noticed')
  .parse();
const chosen = program.args.length === 0 ? Object.keys(groups) : program.args;
const { survivors: listsSurvivors } = program.opts<{ survivors?: true }>();

console.log('| File | Mutants | Noticed | Not reached | Not noticed | Share |');
console.log('| --- | --- | --- | --- | --- | --- |');
for (const each of chosen) {
  const mutate = [...(groups[each] ?? [each])];
  const results = await new Stryker({ configFile: 'proof/mutations/stryker.config.json', mutate }).runMutationTest();
  report(results);
}

type Mutants = Awaited<ReturnType<Stryker['runMutationTest']>>;

function report(mutants: Mutants): void {
  const files = new Set(mutants.map(({ fileName }) => fileName));
  for (const file of files) {
    const counted = mutants.filter(({ fileName, status }) => fileName === file && status !== 'Ignored');
    const having = (...statuses: string[]) => counted.filter(({ status }) => statuses.includes(status));
    const noticed = having('Killed', 'Timeout', 'CompileError', 'RuntimeError').length;
    const share = counted.length === 0 ? 100 : (100 * noticed) / counted.length;
    const numbers = [counted.length, noticed, having('NoCoverage').length, having('Survived').length];
    console.log(`| ${[relative('.', file), ...numbers, `${share.toFixed(1)} %`].join(' | ')} |`);
    if (!listsSurvivors) continue;
    for (const { location, mutatorName, replacement = '', status } of having('Survived', 'NoCoverage')) {
      console.log(
        `  ${location.start.line}:${location.start.column} ${status} ${mutatorName} ${replacement.slice(0, 100)}`,
      );
    }
  }
}
