#!/usr/bin/env node
// `npx --no -- labops` in the repository, before anything is built. The package of client/ and the image have the built program.
import { register } from 'tsx/esm/api';

register();
await import('./client/command-line/labops.ts');
