import type { SandboxControl } from '../control.js';

/** How many kits and links all stories have made: exactly one kit for each that was ordered. */
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
  /** Links that ended with a connection. */
  connected: number;
  /** Codes that reached a provider. */
  codes: number;
}

export async function takeTally(control: SandboxControl): Promise<Tally> {
  const orders = await control.orders();
  const tokens = await control.linkTokens();
  const posts = await control.requests({ method: 'POST' });
  const creations = posts.filter(({ path }) => path === '/v3/order/testkit');
  const asked = orders.map(({ passthrough }) => passthrough).filter((passthrough) => passthrough !== null);
  // Each of our creations names its reference and its number in it: 1 is the first kit, the others replace one.
  const firsts = new Set(asked.filter((passthrough) => passthrough.endsWith(':1')));
  const others = new Set(asked.filter((passthrough) => !passthrough.endsWith(':1')));
  return {
    made: asked.length,
    redrawn: orders.filter((order) => order.passthrough === null && order.kit_sample_id !== null).length,
    placed: firsts.size,
    replacements: others.size,
    lostAnswers: creations.filter(({ outcome }) => outcome === 'dropped').length,
    connected: tokens.filter(({ state }) => state === 'consumed').length,
    codes: posts.filter(({ path }) => path.endsWith('/complete_mfa')).length,
  };
}

/** True if every order that was placed has exactly one kit. */
export function isExact({ made, placed, replacements }: Tally): boolean {
  return made === placed + replacements;
}
