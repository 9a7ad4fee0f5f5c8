import { inspected, type OpenReportFile } from './content.js';
import { checkHeaderSets, headerSetNamed, type HeaderSet, systemResolve, type Resolve } from './hosts.js';
import { openLocalFile } from './local-file.js';
import { openRemoteFile } from './remote-file.js';

export type { OpenReportFile } from './content.js';
export type { HeaderSet } from './hosts.js';

/** A reference to a report's file. Only this enters a workflow: never bytes, never a secret. */
type ReportFileReference =
  /** Below the configured root. */
  | { path: string }
  /** `headersFrom` names a configured set of headers. */
  | { url: string; headersFrom?: string };

export interface ReportFilesConfig {
  /** Folder that paths lie in (REPORT_ROOT). Without it paths are refused. */
  root?: string | undefined;
  /** Bytes of a file (REPORT_MAX_BYTES). Default 10,485,760: the specification's 10 MB, read generously. */
  maxBytes?: number;
  /** Hosts that may have addresses that are not public: a store of one's own, or a test's. `host` or `host:port`. */
  allowedHosts?: readonly string[];
  headerSets?: Readonly<Record<string, HeaderSet>> | undefined;
  /**
   * Milliseconds for a host to connect, to answer, and between two chunks. Default 30,000, as long as an upload may
   * stall. In total a host may be waited for twice as long, plus the time that its bytes take at 10 MiB in two minutes.
   */
  idleTimeoutMs?: number;
  /** How names become addresses. Default: as the machine does it. */
  resolve?: Resolve;
}

export interface ReportFiles {
  /**
   * Opens a file and inspects its first bytes. Rejects with ReportFileRefused, ReportFileUnavailable or the signal's
   * reason; reading the bytes later may reject in the same way. A file whose bytes are not read to the end must be
   * closed.
   */
  open(file: ReportFileReference, options?: { signal?: AbortSignal }): Promise<OpenReportFile>;
}

/** Throws a TypeError for a configuration that could never work. */
export function createReportFiles(config: ReportFilesConfig): ReportFiles {
  const { root, maxBytes = 10_485_760, allowedHosts = [], headerSets = {}, resolve = systemResolve } = config;
  const limits = { allowedHosts, idleTimeoutMs: config.idleTimeoutMs ?? 30_000, resolve };
  checkHeaderSets(headerSets);
  return {
    open: async (file, { signal } = {}) => {
      signal?.throwIfAborted();
      if ('path' in file) return inspected(await openLocalFile(root, file.path, signal), maxBytes);
      const headers = file.headersFrom === undefined ? undefined : headerSetNamed(headerSets, file.headersFrom);
      return inspected(await openRemoteFile(file.url, headers, limits, signal), maxBytes);
    },
  };
}
