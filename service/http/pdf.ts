/** Readers look for a PDF's header within so many bytes: scanners and mail gateways put other bytes before it. */
export const pdfFirstBytes = 1024;

/**
 * True if the first bytes are those of a PDF: its header begins a line, and what comes before is not a page or JSON, which
 * may mention one.
 */
export function hasPdfHeader(bytes: Buffer): boolean {
  const start = bytes.subarray(0, pdfFirstBytes).toString('latin1');
  return /(?:^(?:\u00ef\u00bb\u00bf)?|[\r\n])%PDF-/.test(start) && !/^(?:\u00ef\u00bb\u00bf)?\s*["{[<]/.test(start);
}
