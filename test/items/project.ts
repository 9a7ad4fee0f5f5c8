import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { knownSurvivors } from '../renaming/survivors.js';
import { projectFolder } from '../rig/processes.js';
import { pageOf } from './page.js';
import { proofsIn, type Proofs, type Section } from './tables.js';

export const pagePath = join(projectFolder, 'docs/coverage.md');

export interface Coverage {
  sections: readonly Section[];
  proofs: Proofs;
  /** What docs/coverage.md has to say. */
  page: string;
}

/** The items and tests of this tree. */
export async function readCoverage(): Promise<Coverage> {
  const items = await readFile(join(projectFolder, 'test/items/items.json'), 'utf8');
  const sections = JSON.parse(items) as Section[];
  const proofs = await proofsIn(projectFolder);
  return { sections, proofs, page: pageOf(sections, proofs, knownSurvivors) };
}
