/** The form of a code. Nothing is documented; providers send four to eight digits, and a few use letters. */
const codePattern = /^[A-Za-z0-9]{4,12}$/;

/** The code as it is sent: users copy it with the spaces and hyphens of the message. */
export function readCode(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > 40) return undefined;
  const code = text.replaceAll(/[\s-]/g, '');
  return codePattern.test(code) ? code : undefined;
}
