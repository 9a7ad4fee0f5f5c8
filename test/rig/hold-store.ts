import { openStore } from '../../store/health-data-store.js';

/** Opens the directory that it is given and stays, so a test can see how another opener fares. */
const store = await openStore({ directory: process.argv[2] ?? '' });
process.stdout.write('holding\n');
process.once('SIGTERM', () => void store.close().then(() => process.exit(0)));
setInterval(() => undefined, 60_000);
