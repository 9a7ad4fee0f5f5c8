import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findBrowser, installBrowser } from './browser.js';

/*
 * Takes the README's pictures of the Web UI: `npm run screenshots`, while `npm run demo` runs in another terminal and has played its
 * stories. With other ports than the demo's default: `npm run screenshots -- http://127.0.0.1:18233`.
 */

const folder = fileURLToPath(new URL('../docs/images', import.meta.url));
const mostBytes = 150_000;

/** Long enough for the Web UI to ask Temporal and the codec server; a headless browser skips the time in which nothing happens. */
const loadMs = 20_000;

interface Picture {
  file: string;
  /** A page below `/namespaces/default/workflows`. */
  page: string;
  width: number;
  height: number;
}

async function main(): Promise<void> {
  const [webUi = 'http://127.0.0.1:8233'] = process.argv.slice(2);
  const browser = await findBrowser();
  if (browser === undefined) throw new Error(installBrowser);
  await mkdir(folder, { recursive: true });
  for (const picture of await picturesOf(webUi)) await take(browser, webUi, picture);
}

/** The list, what needs a person, and the case file of an order with a replacement. */
async function picturesOf(webUi: string): Promise<Picture[]> {
  const attention = "LabAttention IS NOT NULL AND ExecutionStatus = 'Running'";
  const { workflowId, runId } = await orderOf(webUi, 'demo-lost');
  return [
    { file: 'workflows.png', page: '', width: 1280, height: 640 },
    { file: 'attention.png', page: `?query=${encodeURIComponent(attention)}`, width: 1280, height: 360 },
    {
      file: 'case-file.png',
      page: `/${encodeURIComponent(workflowId)}/${runId}/user-metadata`,
      width: 1400,
      height: 760,
    },
  ];
}

interface Execution {
  workflowId: string;
  runId: string;
}

async function orderOf(webUi: string, reference: string): Promise<Execution> {
  const query = encodeURIComponent(`WorkflowType = 'kitOrder' AND LabReference = '${reference}'`);
  const address = `${webUi}/api/v1/namespaces/default/workflows?query=${query}`;
  const answer = await fetch(address).catch((cause: unknown) => {
    throw new Error(`The Web UI does not answer at ${webUi}: start \`npm run demo\`, or give its address.`, { cause });
  });
  const { executions = [] } = (await answer.json()) as { executions?: { execution: Execution }[] };
  const [found] = executions;
  if (found) return found.execution;
  throw new Error(`There is no order ${reference} yet: wait until the demo has played its stories.`);
}

async function take(browser: string, webUi: string, { file, page, width, height }: Picture): Promise<void> {
  const path = join(folder, file);
  const profile = await mkdtemp(join(tmpdir(), 'screenshots-'));
  try {
    await promisify(execFile)(
      browser,
      [
        // In a container the browser runs as root, which its sandbox refuses; it opens the demo's own pages only.
        ...['--headless=new', '--no-sandbox', '--hide-scrollbars', '--lang=en', `--user-data-dir=${profile}`],
        ...[`--window-size=${width},${height}`, `--virtual-time-budget=${loadMs}`, `--screenshot=${path}`],
        `${webUi}/namespaces/default/workflows${page}`,
      ],
      { timeout: 4 * loadMs },
    );
  } finally {
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
  const { size } = await stat(path);
  if (size > mostBytes) throw new Error(`${path} has ${size} bytes, more than ${mostBytes}: take a smaller window.`);
  process.stdout.write(`${path}: ${Math.round(size / 1000)} kB\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
