import { writeFile } from 'node:fs/promises';
import { bundleWorkflows, prebuiltBundlePath } from './bundle.js';

/*
 * The last step of `npm run build`, run from the compiled code: puts the workflow bundle beside it, so that a worker
 * starts in a fifth of the time and with a third less memory (measured).
 */
const { code } = await bundleWorkflows();
await writeFile(prebuiltBundlePath, code);
