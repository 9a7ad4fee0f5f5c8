import { startDevServer } from './dev-server.js';

/* `npm run temporal`: a development server of Temporal with its Web UI, for trying things out. It forgets everything when it stops. */

const { address, uiUrl, ended } = await startDevServer({
  port: 7233,
  uiPort: 8233,
  log: (text) => process.stderr.write(text),
});
process.stdout.write(`Temporal is at ${address}, its Web UI at ${uiUrl}\n`);
await ended;
