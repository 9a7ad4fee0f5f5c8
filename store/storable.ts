/** Far below the depth at which PostgreSQL, or JSON.stringify, would give up; health data has a handful of levels. */
const deepest = 100;

/**
 * Why a JSON value could not be held as it was sent; undefined when it can. PostgreSQL's texts have no NUL and no
 * half of a surrogate pair, though JSON may spell them, and it gives up on deep nesting. No recursion: the value may be a
 * million deep.
 */
export function whyUnstorable(value: unknown): string | undefined {
  const left: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = left.pop(); next; next = left.pop()) {
    if (typeof next.value === 'string' && !isStorableText(next.value)) return unstorableText;
    // JSON may contain 1e400, which is read as Infinity and would be written as null.
    if (typeof next.value === 'number' && !Number.isFinite(next.value)) return unstorableNumber;
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth === deepest) return `is nested deeper than ${deepest} levels`;
    const depth = next.depth + 1;
    for (const [key, child] of Object.entries(next.value)) {
      if (!isStorableText(key)) return unstorableText;
      left.push({ value: child, depth });
    }
  }
  return undefined;
}

const unstorableText = 'has a text with a character that cannot be stored (NUL, or half of a surrogate pair)';

const unstorableNumber = 'has a number that is too large for a double';

export function isStorableText(text: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(text);
}
