import { Gauge, type Registry } from 'prom-client';
import type { StoreHealth } from './store-health.js';

/** Rejected events in the database, of all processes that share it. @returns refreshes them; never rejects */
export function watchRejectedEvents(registry: Registry, health: () => Promise<StoreHealth>): () => Promise<void> {
  const rejected = new Gauge({
    name: 'labops_rejected_events',
    help: 'Rejected events that wait for a person, and those that waited for too long and were erased.',
    labelNames: ['state'],
    registers: [registry],
  });
  const available = new Gauge({
    name: 'labops_database_up',
    help: '1 if the database for health data answers, else 0.',
    registers: [registry],
  });
  return async () => {
    const found = await health();
    rejected.reset();
    available.set('rejectedEvents' in found ? 1 : 0);
    if (!('rejectedEvents' in found)) return;
    rejected.set({ state: 'waiting' }, found.rejectedEvents);
    rejected.set({ state: 'expired' }, found.expiredRejectedEvents);
  };
}
