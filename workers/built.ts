import { existsSync } from 'node:fs';
import { StartFailed } from './process.js';

/** True in dist/, where the programs and what they share are one folder below; false if they run from the sources. */
export const isBuilt = import.meta.url.endsWith('.js');

/** @throws StartFailed if a file that is loaded by its path is missing */
export function requireBuilt(path: string): string {
  if (existsSync(path)) return path;
  throw new StartFailed(`${path} is missing: run \`npm run build\`, and deploy the whole of dist/.`);
}
