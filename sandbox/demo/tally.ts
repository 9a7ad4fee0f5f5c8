import type { SandboxControl } from '../control.js';

/** Kits against creations: what "exactly one kit" comes to over all stories. */
export interface Tally {
  /** Kits that somebody asked the lab service for, and that it made. */
  made: number;
  /** Kits that the lab service made by itself. */
  redrawn: number;
  /** References that the product placed. */
  placed: number;
  replacements: number;
  /** Creations whose answer never arrived. */
  lostAnswers: number;
}

export async function takeTally(control: SandboxControl): Promise<Tally> {
  const orders = await control.orders();
  const creations = await control.requests({ method: 'POST', path: '/v3/order/testkit' });
  const asked = orders.map(({ passthrough }) => passthrough).filter((passthrough) => passthrough !== null);
  // Each of our creations names its reference and its number in it: 1 is the first kit, the others replace one.
  const firsts = new Set(asked.filter((passthrough) => passthrough.endsWith(':1')));
  const others = new Set(asked.filter((passthrough) => !passthrough.endsWith(':1')));
  return {
    made: asked.length,
    redrawn: orders.length - asked.length,
    placed: firsts.size,
    replacements: others.size,
    lostAnswers: creations.filter(({ outcome }) => outcome === 'dropped').length,
  };
}

/** Whether every order that was asked for has exactly one kit. */
export function isExact({ made, placed, replacements }: Tally): boolean {
  return made === placed + replacements;
}
