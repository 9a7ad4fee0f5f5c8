import { readFileSync } from 'node:fs';
import { NotUtf8, utf8Text } from '../client/utf8.js';
import { z } from 'zod';
import { checkHeaderSets } from '../activities/report-file/hosts.js';
import type { HeaderSet, ReportFilesConfig } from '../activities/report-file/report-files.js';

/** The worker's settings of reports' files. */
interface ReportSettings {
  REPORT_ROOT?: string | undefined;
  REPORT_MAX_BYTES: number;
  REPORT_URL_ALLOWED_HOSTS: string[];
}

const headerSetsSchema = z.record(
  z.string(),
  z.strictObject({ hosts: z.array(z.string()), headers: z.record(z.string(), z.string()) }),
);

export function reportFilesConfig(settings: ReportSettings, headerSets: Record<string, HeaderSet>): ReportFilesConfig {
  const { REPORT_ROOT: root } = settings;
  return {
    ...(root !== undefined && { root }),
    maxBytes: settings.REPORT_MAX_BYTES,
    allowedHosts: settings.REPORT_URL_ALLOWED_HOSTS,
    headerSets,
  };
}

/**
 * A parser's sentence quotes the text around it, which contains secrets: only the kind of fault is reported.
 * @param file the value of REPORT_URL_HEADERS_FILE
 * @param fault receives the setting's fault, as a text that follows the setting's name and repeats no value
 */
export function readHeaderSets(file: string | undefined, fault: (problem: string) => void): Record<string, HeaderSet> {
  if (file === undefined) return {};
  const text = textOf(file);
  if (text === undefined) return refused(fault, 'names a file that cannot be read');
  if (text instanceof NotUtf8) return refused(fault, `names a file that is ${text.problem}`);
  const read = headerSetsSchema.safeParse(jsonOf(text));
  if (!read.success) return refused(fault, 'names a file that is not a JSON object of header sets');
  try {
    checkHeaderSets(read.data);
    return read.data;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return refused(fault, `names a file with a fault: ${error.message}`);
  }
}

function refused(fault: (problem: string) => void, problem: string): Record<string, HeaderSet> {
  fault(problem);
  return {};
}

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
