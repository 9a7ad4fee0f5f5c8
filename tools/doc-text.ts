/* Texts of the code as the generated pages show them. */

/** The doc comment above what `declared` matches; a comment for maintainers may stand between the two. */
export function docCommentOf(declared: string, source: string): string {
  const above = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\n(?: *//.*\\n)* *${declared}`).exec(source)?.[1];
  if (above === undefined) throw new Error(`Nothing documents ${declared}`);
  return above
    .replaceAll(/^ *\* ?/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** A Markdown table. A page of docs/ that a cell names becomes a link. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cellOf).join(' | ')} |`;
  return [line(head), line(head.map(() => '-')), ...rows.map(line)].join('\n');
}

function cellOf(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\bdocs\/((?:\w+\/)*)([\w-]+\.md)/g, '[$2]($1$2)');
}
