#!/usr/bin/env node
// `npx --no -- labops` in the repository, before anything is built. The image has the built program.
import { register as registerRequire } from 'tsx/cjs/api';
import { register } from 'tsx/esm/api';

register();
registerRequire(); // The SDK requires the module of the failure converter when `replay` has encryption keys.
await import('./workers/labops.ts');
