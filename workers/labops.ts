#!/usr/bin/env node
import { runLabops } from '../client/command-line/program.js';
import { workerCommands } from './commands.js';

/* `labops` of the repository and of the image: that of the client's package, with the commands that need the worker's settings. */

runLabops(workerCommands);
