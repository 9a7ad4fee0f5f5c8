import '../proof/lives/sandbox.js';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generatedPages } from './pages.js';

/* Writes the generated pages of docs/, client/schemas/ and the schema of the chart's values: `npm run docs`. */

const projectFolder = fileURLToPath(new URL('..', import.meta.url));

for (const [path, text] of await generatedPages(projectFolder)) await writeFile(join(projectFolder, path), text);
