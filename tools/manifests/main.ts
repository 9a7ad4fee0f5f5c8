import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { headerOf, overlays, prometheusRule, prometheusRulePath, rendered, renderedPath } from './manifests.js';

/* `npm run manifests`: writes the alerts as a manifest, and deploy/kubernetes/rendered/ from the sources beside it. Needs kustomize or kubectl. */

const folder = process.cwd();
await writeFile(join(folder, prometheusRulePath), await prometheusRule(folder));
for (const overlay of overlays) {
  const text = await rendered(folder, overlay);
  if (text === undefined) {
    console.error('There is neither kustomize nor kubectl: install one of them, and run this again.');
    process.exitCode = 1;
    break;
  }
  await writeFile(join(folder, renderedPath(overlay)), (await headerOf(folder, overlay)) + text);
}
