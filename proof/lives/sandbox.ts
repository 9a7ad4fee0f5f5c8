import { AsyncLocalStorage } from 'node:async_hooks';

/*
 * The workflow sandbox of Temporal's worker gives this class to the SDK as a global. Import this file before
 * `@temporalio/workflow`, which looks for it once, when it is loaded.
 */
Object.assign(globalThis, { AsyncLocalStorage });
