import { findDevServer } from '../../sandbox/temporal/find.js';

process.stdout.write(`found ${await findDevServer()}\n`);
