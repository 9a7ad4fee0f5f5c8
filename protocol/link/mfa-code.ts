/** Longer than any code, with room for a sentence that was pasted with it. */
const longestText = 200;

/** The form of a code that is tidied. Nothing is documented; providers send four to eight digits, and a few use letters. */
const codePattern = /^[A-Za-z0-9]{4,12}$/;

/** The link's policy: a code goes to the provider as the person typed it, without blanks around it, or without any spaces and hyphens. */
export type CodeForm = 'as_typed' | 'tidied';

/**
 * The code as it is sent; undefined if it cannot be one. Only the provider knows the form of its codes, so a text is changed
 * only if the policy says so.
 */
export function readCode(text: unknown, form: CodeForm): string | undefined {
  if (typeof text !== 'string' || text.length > longestText || text.trim() === '') return undefined;
  if (form === 'as_typed') return text.trim();
  const code = text.replaceAll(/[\s-]/g, '');
  return codePattern.test(code) ? code : undefined;
}

/** The rule that a code breaks. */
export const codeRules: Readonly<Record<CodeForm, string>> = {
  as_typed: `must be a string that is not blank, of at most ${longestText} characters`,
  tidied: 'must be 4 to 12 letters or digits',
};
