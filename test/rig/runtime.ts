import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';

// A process has one runtime. The server that skips time lacks what the core would like for heartbeats, and is warned about it in every file.
const quiet = { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) };
Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: quiet } });
