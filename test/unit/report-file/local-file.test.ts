import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFile,
  link,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readlink,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { requireBelow } from '../../../activities/report-file/local-file.js';
import { createReportFiles, type ReportFiles } from '../../../activities/report-file/report-files.js';
import { sampleReport } from '../../../sandbox/sample-report.js';
import { outcomeOf, read } from './reading.js';
import { eventually } from '../../rig/eventually.js';

const pdf = sampleReport('pdf');

/** `<base>/root` with `report.pdf` in it, beside `<base>/outside/secret.pdf`. */
async function folders(): Promise<{ base: string; root: string; files: ReportFiles }> {
  const base = await mkdtemp(join(tmpdir(), 'report-file-'));
  onTestFinished(async () => rm(base, { recursive: true }));
  const root = join(base, 'root');
  await mkdir(join(root, 'folder'), { recursive: true });
  await mkdir(join(base, 'outside'));
  await writeFile(join(root, 'report.pdf'), pdf);
  await writeFile(join(base, 'outside', 'secret.pdf'), pdf);
  return { base, root, files: createReportFiles({ root }) };
}

describe('a path below the root', () => {
  test('is opened with its type and size, and read as it is', async () => {
    const { files } = await folders();
    const file = await files.open({ path: 'report.pdf' });
    expect(file).toMatchObject({ contentType: 'application/pdf', size: pdf.length });
    expect((await read(file)).equals(pdf)).toBe(true);
  });

  const spellings = ['folder/../report.pdf', './report.pdf', 'inner.pdf', 'way/report.pdf'];
  test.each(spellings)('may be written %s', async (path) => {
    const { root, files } = await folders();
    await symlink('report.pdf', join(root, 'inner.pdf'));
    await symlink('.', join(root, 'way'));
    expect(await outcomeOf(files.open({ path }))).toBe(pdf.length);
  });

  test('may be absolute, even if the root itself is a link', async () => {
    const { base, root } = await folders();
    await symlink(root, join(base, 'link-to-root'));
    for (const [one, other] of [
      [root, root],
      [join(base, 'link-to-root'), join(base, 'link-to-root')],
      [join(base, 'link-to-root'), root],
    ] as const) {
      const files = createReportFiles({ root: one });
      expect(await outcomeOf(files.open({ path: join(other, 'report.pdf') }))).toBe(pdf.length);
    }
  });

  test('comes in pieces of at most 64 KiB', async () => {
    const { root, files } = await folders();
    await writeFile(join(root, 'large.pdf'), sampleReport('pdf', { size: 1_000_000 }));
    const file = await files.open({ path: 'large.pdf' });
    const sizes: number[] = [];
    for await (const chunk of file.bytes) sizes.push(chunk.length);
    expect(Math.max(...sizes)).toBe(65_536);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1_000_000);
  });
});

describe('a path is refused', () => {
  test.each([
    ...['../outside/secret.pdf', '../outside/nothing.pdf', 'folder/../../outside/secret.pdf', '/etc/passwd', '..'],
    ...['../root-of-another/report.pdf', 'link.pdf', 'way-out/secret.pdf', 'hop.pdf', 'circle.pdf'],
  ])('%s: it leads outside, whether something exists there or not', async (path) => {
    const { base, root, files } = await folders();
    await mkdir(join(base, 'root-of-another'));
    await writeFile(join(base, 'root-of-another', 'report.pdf'), pdf);
    await symlink(join(base, 'outside', 'secret.pdf'), join(root, 'link.pdf'));
    await symlink('../outside', join(root, 'way-out'));
    await symlink('link.pdf', join(root, 'hop.pdf'));
    await symlink('circle.pdf', join(root, 'circle.pdf'));
    expect(await outcomeOf(files.open({ path }))).toBe('refused: outside_root');
  });

  test('a path is refused without a root', async () => {
    expect(await outcomeOf(createReportFiles({}).open({ path: 'report.pdf' }))).toBe('refused: outside_root');
  });

  const nowhere = ['nothing.pdf', 'report.pdf/below', 'n\0ul.pdf', `${'n'.repeat(300)}.pdf`];
  test.each(nowhere)('%j: nothing is there', async (path) => {
    const { files } = await folders();
    expect(await outcomeOf(files.open({ path }))).toBe('refused: not_found');
  });

  test('a path is refused if it is a folder, a pipe or a socket, and opening a pipe does not wait for a writer', async () => {
    const { root, files } = await folders();
    execFileSync('mkfifo', [join(root, 'pipe')]);
    const server = createServer().listen(join(root, 'socket'));
    onTestFinished(() => void server.close());
    await eventually(async () => expect(await readdir(root)).toContain('socket'));
    for (const path of ['folder', '.', '', 'pipe', 'socket']) {
      expect(await outcomeOf(files.open({ path })), path).toBe('refused: not_a_file');
    }
  });

  test('a path is refused with a message that names no path', async () => {
    const { root, files } = await folders();
    await symlink('/etc/passwd', join(root, 'link'));
    for (const path of ['nothing.pdf', '/etc/passwd', 'link', 'folder']) {
      const error: unknown = await files.open({ path }).catch((thrown: unknown) => thrown);
      expect(String((error as Error).stack?.split('\n')[0])).not.toMatch(/passwd|nothing\.pdf|\/root|folder/);
      expect(error).not.toHaveProperty('cause');
    }
  });
});

describe('a folder that is swapped with a link while a file in it is opened', () => {
  /** Swaps `<root>/folder` with a link to the folder outside and back, as fast as it can, until the test has ended. */
  async function swapping(root: string): Promise<void> {
    await symlink('../outside', join(root, 'link'));
    const swap = `
      const { renameSync } = require('node:fs');
      for (;;) {
        renameSync('folder', 'hidden'); renameSync('link', 'folder');
        renameSync('folder', 'link'); renameSync('hidden', 'folder');
      }`;
    const child = spawn(process.execPath, ['-e', swap], { cwd: root, stdio: 'ignore' });
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    await eventually(async () => expect(await readdir(root)).toContain('hidden'));
  }

  // Other systems do not say where an open file lies.
  const isElsewhere = process.platform !== 'linux';

  test.skipIf(isElsewhere)(
    'a folder that is swapped with a link while a file in it is opened never leads to a file outside',
    async () => {
      const { root, files } = await folders();
      // Distinguished by their sizes.
      await writeFile(join(root, 'folder', 'secret.pdf'), sampleReport('pdf', { size: 2_000 }));
      await swapping(root);
      const sizes = new Set<number>();
      for (const until = Date.now() + 1_000; Date.now() < until;) {
        const file = await files.open({ path: 'folder/secret.pdf' }).catch(() => undefined);
        if (file) sizes.add((await read(file)).length);
      }
      expect([...sizes]).toEqual([2_000]);
    },
  );

  test.skipIf(isElsewhere)(
    'is noticed by where the open file lies, though the path leads to the same file by another name',
    async () => {
      const { base, root } = await folders();
      const [outside, inside] = [join(base, 'outside', 'secret.pdf'), join(root, 'another-name.pdf')];
      await link(outside, inside);
      const handle = await open(outside);
      onTestFinished(async () => handle.close());
      await expect(requireBelow(root, inside, handle)).rejects.toMatchObject({ reason: 'outside_root' });
    },
  );

  test('is noticed by the path if the system does not say where an open file lies', async () => {
    const { base, root } = await folders();
    const [outside, inside] = [join(base, 'outside', 'secret.pdf'), join(root, 'report.pdf')];
    const outcomes: string[] = [];
    for (const path of [outside, inside]) {
      const handle = await open(path);
      onTestFinished(async () => handle.close());
      const demand = requireBelow(root, inside, handle, join(base, 'no-such-folder'));
      outcomes.push(await demand.then(() => 'inside', String));
    }
    expect(outcomes).toEqual([expect.stringContaining('outside_root'), 'inside']);
  });
});

test('a root that cannot be read may be back later', async () => {
  const { root } = await folders();
  const files = createReportFiles({ root: join(root, 'not-mounted') });
  expect(await outcomeOf(files.open({ path: 'report.pdf' }))).toBe('unavailable: not_readable');
});

test.each([
  ['grows', 'changed'],
  ['shrinks', 'broken_off'],
])('a file that %s while it is read can be read another time', async (change, reason) => {
  const { root, files } = await folders();
  const path = join(root, 'changing.pdf');
  await writeFile(path, sampleReport('pdf', { size: 300_000 }));
  const file = await files.open({ path });
  if (change === 'grows') await appendFile(path, 'more');
  else await truncate(path, 200_000);
  await expect(read(file)).rejects.toMatchObject({ name: 'ReportFileUnavailable', reason });
});

test('no descriptor is left open, however the reading ends', async () => {
  const { root, files } = await folders();
  await writeFile(join(root, 'large.pdf'), sampleReport('pdf', { size: 1_000_000 }));
  await writeFile(join(root, 'text.pdf'), 'only text');
  const openDescriptors = async () => {
    const at = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
    return (await Promise.all(at)).filter((path) => path.startsWith(root));
  };
  await read(await files.open({ path: 'large.pdf' }));
  expect(await outcomeOf(files.open({ path: 'text.pdf' }))).toBe('refused: wrong_type');
  const unread = await files.open({ path: 'large.pdf' });
  expect(await openDescriptors()).not.toEqual([]);
  await unread.close();
  await unread.close();
  for await (const chunk of (await files.open({ path: 'large.pdf' })).bytes) if (chunk.length > 0) break;
  await eventually(async () => expect(await openDescriptors()).toEqual([]));
});

test("an aborted signal ends the reading with the signal's reason", async () => {
  const { root, files } = await folders();
  await writeFile(join(root, 'large.pdf'), sampleReport('pdf', { size: 1_000_000 }));
  const controller = new AbortController();
  const file = await files.open({ path: 'large.pdf' }, { signal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(read(file)).rejects.toThrow('enough');
  await expect(files.open({ path: 'large.pdf' }, { signal: controller.signal })).rejects.toThrow('enough');
});
