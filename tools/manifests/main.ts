import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { headerOf, rendered, renderedPath, variants } from './manifests.js';

/* `npm run manifests`: writes deploy/kubernetes/rendered/ from the chart. Needs Helm. */

const folder = process.cwd();
for (const variant of variants) {
  const text = await rendered(folder, variant);
  if (text === undefined) {
    console.error('There is no helm on PATH: install it (https://helm.sh), and run this again.');
    process.exitCode = 1;
    break;
  }
  await writeFile(join(folder, renderedPath(variant)), (await headerOf(folder, variant)) + text);
}
