#!/usr/bin/env node
// `npx --no -- labops` in the repository, before anything is built. The image has the built program.
import { register } from 'tsx/esm/api';

register();
await import('./workers/labops.ts');
