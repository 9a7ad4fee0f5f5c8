/** Files for tests and the demo, made here byte for byte: none is a real report. */

export type SampleKind = 'pdf' | 'png' | 'jpg';

/**
 * A small valid PDF of one page with these lines in Helvetica. Characters beyond Latin-1 become question marks. The
 * text is not compressed, so a sandbox marker in a line can be seen in the file's bytes.
 */
export function samplePdf(lines: readonly string[]): Buffer {
  const text = lines.map((line) => `(${escaped(line)}) Tj T*`).join('\n');
  const content = `BT\n/F1 12 Tf\n14 TL\n72 720 Td\n${text}\nET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
  ];
  // The comment's high bytes mark the file as binary.
  let file = '%PDF-1.4\n%\xe2\xe3\xcf\xd3\n';
  const offsets = objects.map((object, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(`${file}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}${trailer}`, 'latin1');
}

/** One pixel each. */
const onePixel = {
  png: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  jpg:
    '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI/////////////////////////////////////' +
    '///////////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAABP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8Aa/' +
    '/Z',
} as const;

/**
 * A file of a kind, with a marker for the sandbox where one is given (`failed:low_quality`) and filled up to a size
 * where one is given. Readers ignore what follows a PDF's or an image's end.
 */
export function sampleReport(kind: SampleKind, options: { outcome?: string; size?: number } = {}): Buffer {
  const marker = options.outcome === undefined ? '' : `labops-sandbox: ${options.outcome}`;
  const lines = ['Invented Laboratory', 'Report of Testperson Invented', 'HbA1c 6.1 %', marker];
  const file =
    kind === 'pdf'
      ? samplePdf(lines.filter((line) => line !== ''))
      : Buffer.concat([Buffer.from(onePixel[kind], 'base64'), Buffer.from(marker)]);
  const missing = (options.size ?? file.length) - file.length;
  if (missing < 0) throw new RangeError(`this ${kind} has ${file.length} bytes already`);
  return Buffer.concat([file, Buffer.alloc(missing, '\n')]);
}

function escaped(line: string): string {
  const latin = [...line].map((character) => (character > '\u00ff' || character < ' ' ? '?' : character)).join('');
  return latin.replace(/[\\()]/g, (character) => `\\${character}`);
}
