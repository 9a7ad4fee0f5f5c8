import { randomBytes } from 'node:crypto';
import type { Upload } from '../http/upload-body.js';

/** The file of a form. `name` and `contentType` go into header lines: printable ASCII without quotes. */
interface FormFile {
  field: string;
  name: string;
  contentType: string;
  bytes: AsyncIterable<Uint8Array>;
  /** The number of bytes, if known: the request then has a Content-Length. */
  size?: number;
}

/**
 * A form with one file as multipart/form-data (RFC 7578), without undici's own FormData: that takes Blobs, which cannot
 * be made from a stream without buffering the whole file. The file comes last, so a service that reads in order knows
 * the user before the file.
 */
export function multipartForm(fields: Readonly<Record<string, string>>, file: FormFile): Upload {
  // 128 random bits: neither a field nor a file can hold the boundary, by accident or on purpose.
  const boundary = `labops-${randomBytes(16).toString('hex')}`;
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${sendable(name)}"\r\n\r\n${value}\r\n`,
  );
  const disposition = `form-data; name="${sendable(file.field)}"; filename="${sendable(file.name)}"`;
  const fileHead = `--${boundary}\r\ncontent-disposition: ${disposition}\r\ncontent-type: ${sendable(file.contentType)}\r\n\r\n`;
  return {
    fields: [...Object.keys(fields), file.field],
    contentType: `multipart/form-data; boundary=${boundary}`,
    head: Buffer.from(parts.join('') + fileHead),
    bytes: file.bytes,
    tail: Buffer.from(`\r\n--${boundary}--\r\n`),
    ...(file.size === undefined ? {} : { size: file.size }),
  };
}

/** Names are the project's own constants; one that could end its header line is a mistake in the code. */
function sendable(text: string): string {
  if (/^[\x20-\x7e]+$/.test(text) && !text.includes('"')) return text;
  throw new TypeError('the names of a form must be printable ASCII without quotes');
}
