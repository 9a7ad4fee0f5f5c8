import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path/posix';
import { everyNode, isTypeOnly, mutableState, type Node, parse, readsClock, specifierOf } from './syntax.js';

/** A file of the project: its path from the project's folder, with `/`, and its text. */
export interface SourceFile {
  path: string;
  text: string;
}

export interface Finding {
  file: string;
  line: number;
  rule: string;
}

/** What a folder may import at run time, beside its own files. */
interface Folder {
  /** Whole folders, and single files by their paths. */
  folders: readonly string[];
  /** npm packages; a name that ends in `/` stands for a whole scope. */
  packages: readonly string[] | 'any';
  /** Node's own modules. */
  node: boolean;
  /** Folders of which only the types may be imported; every other folder of the product when not given. */
  typesOf?: readonly string[];
}

/**
 * The folder table of docs/internals/code.md. Workflow code runs in a sandbox without Node's modules, and what it imports
 * is bundled into every workflow. The lab service's types know nobody; test/ and proof/ may import anything.
 */
const table: Record<string, Folder> = {
  service: { folders: [], packages: ['zod', 'undici'], node: true },
  protocol: {
    folders: [
      'service/canonical-id.ts',
      'service/interpretation.ts',
      'service/json-object.ts',
      'service/order/snapshot.ts',
      'service/timestamps.ts',
    ],
    packages: ['@temporalio/common', 'ms'],
    node: false,
    typesOf: ['service'],
  },
  workflows: {
    folders: ['protocol'],
    packages: ['@temporalio/workflow', '@temporalio/common', 'ms'],
    node: false,
    typesOf: ['activities', 'service'],
  },
  activities: {
    folders: ['service', 'protocol', 'store'],
    packages: [
      ...['@temporalio/activity', '@temporalio/client', '@temporalio/common'],
      ...['undici', 'file-type', 'ipaddr.js', 'lru-cache'],
    ],
    node: true,
    // Workflows import their types.
    typesOf: [],
  },
  client: {
    // Its package has the reader, too, which `labops users export` loads if it has a database.
    folders: ['service', 'protocol', 'store/health-data-reader.ts'],
    packages: [
      ...['@temporalio/client', '@temporalio/common', '@temporalio/envconfig', '@temporalio/proto'],
      ...['ms', 'commander'],
    ],
    node: true,
  },
  store: { folders: ['service'], packages: ['pg', '@electric-sql/pglite', 'fs-native-extensions'], node: true },
  workers: {
    folders: ['service', 'protocol', 'workflows', 'activities', 'client', 'store'],
    packages: 'any',
    node: true,
  },
  sandbox: {
    folders: ['service', 'protocol', 'client'],
    packages: ['fastify', '@fastify/multipart', 'undici', 'zod', 'ms', 'fs-native-extensions', '@temporalio/'],
    node: true,
  },
  // The second is an entry of the client's package, too.
  examples: {
    folders: ['client', 'store/health-data-reader.ts'],
    packages: ['fastify', '@fastify/multipart'],
    node: true,
  },
};

const product = ['service', 'protocol', 'workflows', 'activities', 'client', 'store', 'workers'];

/** What a workflow knows, and how it changes. */
const pureFiles =
  /^workflows\/[^/]+\/(chain|link|job|appointment|review|deletion|snapshots|reports|critical-results)\.ts$/;

/** Every breach of the table, and of the rules beside it, in these files, in their order. */
export function findBreaches(files: readonly SourceFile[]): Finding[] {
  return files.map(read).flatMap((file) => [...importFindings(file), ...file.findings]);
}

export function describeFinding({ file, line, rule }: Finding): string {
  return `${file}:${line}: ${rule}`;
}

interface Import {
  /** A path of the project, or the name of a package. */
  target: string;
  kind: 'file' | 'package' | 'node';
  typeOnly: boolean;
  line: number;
}

interface ParsedFile {
  path: string;
  imports: Import[];
  findings: Finding[];
}

function read({ path, text }: SourceFile): ParsedFile {
  const file: ParsedFile = { path, imports: [], findings: [] };
  const lineOf = (node: Node): number => text.slice(0, node.start).split('\n').length;
  const program = parse(text);
  const complain = (node: Node, rule: string): void => {
    file.findings.push({ file: path, line: lineOf(node), rule });
  };
  for (const node of everyNode(program)) {
    const specifier = specifierOf(node);
    if (specifier !== undefined) {
      file.imports.push({ ...resolve(path, specifier), typeOnly: isTypeOnly(node), line: lineOf(node) });
    }
    if (node.type === 'ExportAllDeclaration') complain(node, '`export *` hides what a file offers: name each export');
    if (pureFiles.test(path) && readsClock(node)) {
      complain(node, 'what a workflow knows changes by pure functions: time and randomness come in as data');
    }
  }
  if (path.startsWith('workflows/') || path.startsWith('protocol/')) {
    for (const { node, why } of mutableState(program)) complain(node, why);
  }
  return file;
}

function resolve(from: string, specifier: string): Pick<Import, 'target' | 'kind'> {
  if (specifier.startsWith('.')) {
    return { target: join(dirname(from), specifier).replace(/\.js$/, '.ts'), kind: 'file' };
  }
  if (specifier.startsWith('node:') || builtinModules.includes(specifier)) return { target: specifier, kind: 'node' };
  const parts = specifier.split('/');
  return { target: parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/'), kind: 'package' };
}

function importFindings({ path, imports }: ParsedFile): Finding[] {
  return imports.flatMap((each) => {
    const rule = importRule(path, each);
    return rule === undefined ? [] : [{ file: path, line: each.line, rule }];
  });
}

/** The fault of an import; `undefined` if there is none. */
function importRule(path: string, { target, kind, typeOnly }: Import): string | undefined {
  const name = folderOf(path);
  const folder = table[name];
  if (['', 'test', 'tools', 'proof'].includes(name)) return undefined;
  if (!folder) return `${name}/ is not in the folder table`;
  if (kind === 'node') return folder.node ? undefined : `${name}/ may not import Node's modules (${target})`;
  if (kind === 'package') {
    const allowed = folder.packages === 'any' || folder.packages.some((each) => covers(each, target));
    // A type costs nothing at run time, but workflow code must not know what it could not call.
    if (allowed || (typeOnly && folder.typesOf === undefined)) return undefined;
    return `${name}/ may not import the package ${target}`;
  }
  const other = folderOf(target);
  if (other === name || folder.folders.includes(other) || folder.folders.includes(target)) return undefined;
  if (typeOnly && (folder.typesOf ?? product).includes(other)) return undefined;
  return `${name}/ may not import ${typeOnly ? 'the types of ' : ''}${target}`;
}

function covers(allowed: string, name: string): boolean {
  return allowed.endsWith('/') ? name.startsWith(allowed) : name === allowed;
}

/** The first folder of a path; empty for a file of the project's own folder. */
function folderOf(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? '') : '';
}
