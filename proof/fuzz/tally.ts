/** A case that broke a claim. */
export interface Finding {
  part: string;
  problem: string;
  /** The input, for the corpus. Invented throughout. */
  input: string;
}

/** Milliseconds of CPU that a case may take: a constant part, and one that grows with its input. */
const allowedMs = { always: 300, perKilobyte: 1 };

const casesBetweenReports = 50_000;

/** The findings of one kind that are kept: the first ones show what it is. */
const mostOfAKind = 5;

/** Counts what became of the cases of one part, and keeps those that broke a claim. */
export class Tally {
  readonly part: string;
  readonly outcomes = new Map<string, number>();
  readonly findings: Finding[] = [];
  slowest = { ms: 0, bytes: 0 };
  cases = 0;
  mostRss = 0;
  /** Is called after every so many cases. */
  readonly #progress: (tally: Tally) => void;
  readonly #ofAKind = new Map<string, number>();

  constructor(part: string, progress: (tally: Tally) => void = () => undefined) {
    this.part = part;
    this.#progress = progress;
  }

  count(outcome: string): void {
    this.cases += 1;
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    if (this.cases % casesBetweenReports === 0) this.#progress(this);
    if (this.cases % 1_000 === 0) this.mostRss = Math.max(this.mostRss, process.memoryUsage.rss());
  }

  found(problem: string, input: string): void {
    const kind = problem.replaceAll(/\d+/g, 'n').slice(0, 60);
    const times = (this.#ofAKind.get(kind) ?? 0) + 1;
    this.#ofAKind.set(kind, times);
    if (times <= mostOfAKind) this.findings.push({ part: this.part, problem, input: input.slice(0, 20_000) });
  }

  get broken(): number {
    return [...this.#ofAKind.values()].reduce((sum, times) => sum + times, 0);
  }

  /**
   * Runs one case and finds one that takes more CPU than its input allows: quadratic behaviour shows here. A compilation or a
   * collection of garbage does not count as a finding, so a slow case is run again, and its quickest run counts.
   */
  async timed<T>(bytes: number, input: () => string, run: () => Promise<T>): Promise<T> {
    const allowed = allowedMs.always + (allowedMs.perKilobyte * bytes) / 1_000;
    const [first, result] = await clocked(run);
    let ms = first;
    for (let again = 0; again < 2 && ms > allowed; again += 1) ms = Math.min(ms, (await clocked(run))[0]);
    if (ms > this.slowest.ms) this.slowest = { ms, bytes };
    if (ms > allowed) this.found(`took ${Math.round(ms)} ms of CPU for ${bytes} bytes`, input());
    return result;
  }
}

/** CPU, because the time of day goes on while other processes have the processor. */
async function clocked<T>(run: () => Promise<T>): Promise<[ms: number, result: T]> {
  const before = process.cpuUsage();
  const result = await run();
  const { user, system } = process.cpuUsage(before);
  return [(user + system) / 1_000, result];
}
