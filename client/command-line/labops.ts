#!/usr/bin/env node
import { connect } from './connecting.js';
import { run } from './program.js';
import { processTerminal } from './terminal.js';

const status = await run(process.argv.slice(2), processTerminal, connect);
// A connection that still tries must not keep the process alive, and a pipe has to get all that was written before it.
process.stdout.write('', () => process.stderr.write('', () => process.exit(status)));
