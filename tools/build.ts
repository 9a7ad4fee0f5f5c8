import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { buildPrograms, buildWorkflows } from './programs.js';

/* `npm run build`: writes dist/, all that production runs besides node_modules. */

const folder = fileURLToPath(new URL('../dist', import.meta.url));

await rm(folder, { recursive: true, force: true });
await buildPrograms(folder);
await buildWorkflows(folder);
