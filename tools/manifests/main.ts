import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { headerOf, overlays, rendered, renderedPath } from './manifests.js';

/* `npm run manifests`: writes deploy/kubernetes/rendered/ from the sources beside it. Needs kustomize or kubectl. */

const folder = process.cwd();
for (const overlay of overlays) {
  const text = await rendered(folder, overlay);
  if (text === undefined) {
    console.error('There is neither kustomize nor kubectl: install one of them, and run this again.');
    process.exitCode = 1;
    break;
  }
  await writeFile(join(folder, renderedPath(overlay)), (await headerOf(folder, overlay)) + text);
}
