/** The service may write an interpretation in capitals. */
export function isInterpretation(interpretation: string | null | undefined, word: string): boolean {
  return interpretation?.toLowerCase() === word.toLowerCase();
}

/** True if somebody must act on the results at once. */
export function isCritical(interpretation: string | undefined): boolean {
  return isInterpretation(interpretation, 'critical');
}
