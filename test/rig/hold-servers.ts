import { startDevServer } from '../../sandbox/temporal/dev-server.js';
import { startTestServer } from '../../sandbox/temporal/test-server.js';

/** Starts both servers and stays, so a test can see what becomes of them when it is killed. */
const server = await startDevServer();
const { environment } = await startTestServer();
process.stdout.write(`holding ${server.address} ${environment.address}\n`);
await server.ended;
