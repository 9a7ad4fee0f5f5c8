/** A list of faults, each for a number of requests or messages that fit it; the first that is left applies. */
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

  /** Removes one fault, or all. */
  remove(id?: string): void {
    if (id === undefined) this.#faults.clear();
    else this.#faults.delete(id);
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
}
