import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { projectFolder } from '../rig/processes.js';

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: projectFolder })
  .toString()
  .trim()
  .split('\n')
  .filter((file) => existsSync(join(projectFolder, file)));
const textOf = (file: string) => readFileSync(join(projectFolder, file), 'utf8');

const slugOf = (words: string) =>
  words
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** The anchors that GitHub gives a page's headings: letters, digits, `-` and `_`, and a number after a repeated one. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutCode(textOf(page)).matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = slugOf(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
    let numbered = anchor;
    for (let n = 1; anchors.has(numbered); n += 1) numbered = `${anchor}-${String(n)}`;
    anchors.add(numbered);
  }
  return anchors;
}

function withoutCode(text: string): string {
  return text.replaceAll(/^ *(`{3,})[^]*?^ *\1$/gm, '');
}

function fault(page: string, anchor: string | undefined): string | undefined {
  if (!existsSync(join(projectFolder, page))) return 'there is no such file';
  if (anchor === undefined || statSync(join(projectFolder, page)).isDirectory()) return undefined;
  return anchorsOf(page).has(anchor) ? undefined : 'there is no such heading';
}

test('every relative link of a page leads to a file, and every anchor to a heading', () => {
  const broken: string[] = [];
  for (const page of files.filter((file) => file.endsWith('.md'))) {
    for (const [, link = ''] of withoutCode(textOf(page)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [path = '', anchor] = link.split('#');
      const why = fault(path === '' ? page : normalize(join(dirname(page), path)), anchor);
      if (why !== undefined) broken.push(`${page}: ${link}: ${why}`);
    }
  }
  expect(broken).toEqual([]);
});

test('every page of docs/ that code or a manifest names exists, and so does the heading', () => {
  const broken: string[] = [];
  for (const file of files.filter((name) => /\.(ts|js|ya?ml|json)$/.test(name) || name === 'Dockerfile')) {
    const named = /\b(docs\/[\w/-]+\.md)(?:#([\w-]+)|, ["“]([^"”\n]+)["”])?/g;
    for (const [, page = '', anchor, heading] of textOf(file).matchAll(named)) {
      const slug = anchor ?? (heading === undefined ? undefined : slugOf(heading));
      const why = fault(page, slug);
      if (why !== undefined) broken.push(`${file}: ${page} ${slug ?? ''}: ${why}`);
    }
  }
  expect(broken).toEqual([]);
});

test('every file that a page, a comment, SQL or YAML names exists', () => {
  const broken: string[] = [];
  const isHistory = (file: string) => file === 'CHANGELOG.md' || file.startsWith('docs/internals/decisions/');
  const read = files.filter((name) => /\.(md|ts|sql|ya?ml|js)$/.test(name) && !isHistory(name));
  const named =
    /(?<![\w./@-])(?:activities|client|deploy|examples|proof|protocol|sandbox|service|store|test|tools|workers|workflows)\/[\w./-]+\.(?:ts|sql|json|ya?ml|md|sh)\b/g;
  for (const file of read) {
    // In code itself, a path is an import's or invented.
    const text = /\.(ts|js)$/.test(file) ? commentsOf(textOf(file)) : textOf(file);
    for (const [path] of text.matchAll(named)) {
      if (!existsSync(join(projectFolder, path))) broken.push(`${file}: ${path}`);
    }
  }
  expect(broken).toEqual([]);
});

function commentsOf(text: string): string {
  return [...text.matchAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm)].map(([comment]) => comment).join('\n');
}
