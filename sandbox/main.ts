import { SandboxConfigError, readSandboxConfig } from './config.js';
import { startLabService } from './lab-service/server.js';

/** Runs the stand-in of the lab service until it is stopped. Exit status 2: the settings; 1: it could not start. */
async function main(): Promise<void> {
  const config = readSandboxConfig();
  const log = (line: string) => void process.stderr.write(`lab service sandbox: ${line}\n`);
  const service = await startLabService({ ...config, log });
  const target = config.settings?.webhookUrl || 'nowhere (SANDBOX_WEBHOOK_URL is empty)';
  process.stdout.write(`lab service sandbox: ${service.url}, control interface below ${service.url}/_sandbox/\n`);
  process.stdout.write(`lab service sandbox: webhooks go to ${target}; a day lasts ${config.settings?.daySeconds} s\n`);
  const stop = (): void => {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    service.close().catch(fail);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
}

function fail(error: unknown): void {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = error instanceof SandboxConfigError ? 2 : 1;
}

function explain(error: unknown): string {
  if (error instanceof SandboxConfigError) return error.message;
  if (error instanceof Error && 'code' in error) {
    const port = 'port' in error ? ` ${String(error.port)}` : '';
    if (error.code === 'EADDRINUSE')
      return `Port${port} is in use: set SANDBOX_PORT to a free one, and the port of SERVICE_BASE_URL to the same.`;
    if (error.code === 'EACCES')
      return `Port${port} needs more rights than this process has: set SANDBOX_PORT above 1023.`;
    if (error.code === 'EADDRNOTAVAIL') return 'SANDBOX_HOST is not an address of this machine.';
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

main().catch(fail);
