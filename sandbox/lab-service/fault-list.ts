/** A list of faults of which each meets so many of the things that fit it; the first that is left applies. */
export class FaultList<Fault extends { readonly skip: number; readonly times: number | null }, Facts> {
  readonly #fits: (fault: Fault, facts: Facts) => boolean;
  readonly #faults = new Map<string, { readonly fault: Fault; skip: number; left: number }>();
  #count = 0;

  constructor(fits: (fault: Fault, facts: Facts) => boolean) {
    this.#fits = fits;
  }

  /** Returns the id under which the fault can be removed. */
  add(fault: Fault): string {
    const id = `fault-${++this.#count}`;
    this.#faults.set(id, { fault, skip: fault.skip, left: fault.times ?? Number.POSITIVE_INFINITY });
    return id;
  }

  remove(id: string): boolean {
    return this.#faults.delete(id);
  }

  clear(): void {
    this.#faults.clear();
  }

  /** The fault that applies to this one, counted off. */
  take(facts: Facts): { readonly id: string; readonly fault: Fault } | undefined {
    for (const [id, entry] of this.#faults) {
      if (!this.#fits(entry.fault, facts)) continue;
      if (entry.skip > 0) {
        entry.skip--;
        continue;
      }
      entry.left--;
      if (entry.left <= 0) this.#faults.delete(id);
      return { id, fault: entry.fault };
    }
    return undefined;
  }

  list(): ({ readonly id: string; readonly left: number | null } & Fault)[] {
    return [...this.#faults].map(([id, { fault, left }]) => ({
      ...fault,
      id,
      left: Number.isFinite(left) ? left : null,
    }));
  }
}
