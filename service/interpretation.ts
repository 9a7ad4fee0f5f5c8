/*
 * The meaning of results, as the service says it. Labs have words of their own for it: HL7's flags (`HH`, `A`), `Critical High`,
 * `panic_low`. Pure, and without an import: the protocol uses it, too.
 */

/** The contract's words. `unknown` is one of them. */
const knownWords: readonly string[] = ['normal', 'abnormal', 'critical', 'unknown'];

/**
 * An interpretation as it enters a workflow: a word of the contract in the contract's spelling, any other as the service wrote it. A
 * sentence in its place may be about a person, and leaves only its alarm.
 */
export function interpretationOf(text: string | null | undefined): string | undefined {
  const written = text?.trim().replaceAll(/\s+/gu, ' ') ?? '';
  if (written === '') return undefined;
  const word = written.toLowerCase();
  if (knownWords.includes(word)) return word;
  if (/^\P{C}{1,64}$/u.test(written) && written.split(' ').length <= 3) return written;
  return isCritical(word) ? 'critical' : 'other';
}

/** True if somebody must act on the results at once. `HH` and `LL` are HL7's flags for values beyond the panic limits. */
export function isCritical(interpretation: string | null | undefined): boolean {
  return /^\s*(?:critical|panic|(?:HH|LL)\s*$)/iu.test(interpretation ?? '');
}

/** False for a word that may mean anything, an alarm too: a person has to look. */
export function isKnownInterpretation(interpretation: string): boolean {
  return knownWords.includes(folded(interpretation)) || isCritical(interpretation);
}

export function isSameInterpretation(one: string | null | undefined, other: string): boolean {
  return folded(one) === folded(other);
}

function folded(interpretation: string | null | undefined): string {
  return (interpretationOf(interpretation) ?? '').toLowerCase();
}
