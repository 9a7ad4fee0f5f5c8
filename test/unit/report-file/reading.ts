import type { RequestListener } from 'node:http';
import { ReportFileRefused, ReportFileUnavailable } from '../../../activities/report-file/errors.js';
import type { OpenReportFile } from '../../../activities/report-file/report-files.js';
import { serving } from '../service/recording-server.js';

/** All bytes of an open file. */
export async function read(file: OpenReportFile): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Opens and reads a file; returns its size in bytes, or the reason why not. */
export async function outcomeOf(opening: Promise<OpenReportFile>): Promise<number | string> {
  try {
    return (await read(await opening)).length;
  } catch (error) {
    if (error instanceof ReportFileRefused) return `refused: ${error.reason}`;
    if (error instanceof ReportFileUnavailable) return `unavailable: ${error.reason}`;
    throw error;
  }
}

/** A real HTTP server on loopback; its `host:port` and address. */
export async function hosting(listener: RequestListener): Promise<{ host: string; url: string; port: number }> {
  const { baseUrl: url } = await serving(listener);
  const { host, port } = new URL(url);
  return { host, url, port: Number(port) };
}
