import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { headerOf, rendered, renderedPath, variants } from './manifests.js';
import { valuesSchema, valuesSchemaPath } from './values-schema.js';

/* `npm run manifests`: writes the schema of the chart's values from the settings, and deploy/kubernetes/rendered/ from the chart. Needs Helm. */

const folder = process.cwd();
await writeFile(join(folder, valuesSchemaPath), valuesSchema());
for (const variant of variants) {
  const text = await rendered(folder, variant);
  if (text === undefined) {
    console.error('There is no helm on PATH: install it (https://helm.sh), and run this again.');
    process.exitCode = 1;
    break;
  }
  await writeFile(join(folder, renderedPath(variant)), (await headerOf(folder, variant)) + text);
}
