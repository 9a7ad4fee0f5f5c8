import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StoreFailed } from '../../store/database.js';
import { openStore, type HealthDataStore } from '../../store/health-data-store.js';
import type { StoreAccess } from '../../store/store-access.js';
import { emptyDatabase } from '../rig/empty-database.js';
import { referenceKeys } from '../rig/stores.js';

/** The embedded database of a stage: ingress and worker share it, and it can be away. */
export class TestStore {
  readonly store: HealthDataStore;
  isDown = false;
  /** What ingress and worker get of it. */
  readonly access: StoreAccess;
  private readonly folder: string;

  constructor(store: HealthDataStore, folder: string) {
    this.store = store;
    this.folder = folder;
    this.access = {
      get: () =>
        this.isDown ? Promise.reject(new StoreFailed('The database is away', 'ECONNREFUSED')) : Promise.resolve(store),
      close: () => Promise.resolve(),
    };
  }

  static async open(): Promise<TestStore> {
    const folder = await mkdtemp(join(tmpdir(), 'lab-operations-story-'));
    const directory = await emptyDatabase(join(folder, 'data'));
    return new TestStore(await openStore({ directory }, { referenceKeys }), folder);
  }

  async close(): Promise<void> {
    await this.store.close();
    await rm(this.folder, { recursive: true });
  }
}
