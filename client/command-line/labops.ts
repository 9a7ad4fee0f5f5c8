#!/usr/bin/env node
import { connect } from './connecting.js';
import { run } from './program.js';
import { processTerminal } from './terminal.js';

// The reader may stop early, as `head` does.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1));

const status = await run(process.argv.slice(2), processTerminal, connect);
// A connection that still tries must not keep the process alive, and a pipe has to get all that was written before it.
process.stdout.write('', () => process.stderr.write('', () => process.exit(status)));
