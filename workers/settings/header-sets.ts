import { readFileSync } from 'node:fs';
import { NotUtf8, utf8Text } from '../../client/files.js';
import { z } from 'zod';
import { path } from '../../service/description.js';
import { checkHeaderSets } from '../../activities/report-file/hosts.js';
import type { HeaderSet } from '../../activities/report-file/report-files.js';

const headerSetsSchema = z.record(
  z.string(),
  z.strictObject({ hosts: z.array(z.string()), headers: z.record(z.string(), z.string()) }),
);

/** The path of a file with headers. A parser's message quotes the text around the fault, which contains secrets: only the kind of fault is reported. */
export const headerSetsFile = path.transform((file, context): Record<string, HeaderSet> => {
  const refused = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  const text = textOf(file);
  if (text === undefined) return refused('names a file that cannot be read');
  if (text instanceof NotUtf8) return refused(`names a file that is ${text.problem}`);
  const read = headerSetsSchema.safeParse(jsonOf(text));
  if (!read.success) return refused('names a file that is not a JSON object of header sets');
  try {
    checkHeaderSets(read.data);
    return read.data;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return refused(`names a file with a fault: ${error.message}`);
  }
});

function textOf(file: string): string | NotUtf8 | undefined {
  try {
    return utf8Text(readFileSync(file));
  } catch (error) {
    return error instanceof NotUtf8 ? error : undefined;
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
