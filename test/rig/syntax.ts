import { parseAst } from 'vitest/node';

/** Any node of the syntax tree (ESTree with TypeScript's additions). */
export interface Node {
  type: string;
  start: number;
  [key: string]: unknown;
}

export function parse(text: string): unknown {
  // oxlint-disable-next-line typescript/no-deprecated -- the one that vitest offers: no parser is installed for one test
  return parseAst(text, { lang: 'ts' });
}

export function* everyNode(value: unknown): Generator<Node> {
  if (Array.isArray(value)) {
    for (const item of value) yield* everyNode(item);
  } else if (isNode(value)) {
    yield value;
    for (const child of Object.values(value)) yield* everyNode(child);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** The string that an import, an export from, a dynamic import or a type import names. */
export function specifierOf(node: Node): string | undefined {
  const imports = [
    'ImportDeclaration',
    'ExportNamedDeclaration',
    'ExportAllDeclaration',
    'ImportExpression',
    'TSImportType',
  ];
  const source = imports.includes(node.type)
    ? node.source
    : node.type === 'TSExternalModuleReference'
      ? node.expression
      : undefined;
  return isNode(source) && typeof source.value === 'string' ? source.value : undefined;
}

/** True if nothing of it is left at run time. `import {} from` and `import ''` are there for their effects. */
export function isTypeOnly(node: Node): boolean {
  if (node.type === 'TSImportType' || node.importKind === 'type' || node.exportKind === 'type') return true;
  const specifiers = Array.isArray(node.specifiers) ? node.specifiers.filter(isNode) : [];
  return specifiers.length > 0 && specifiers.every((each) => each.importKind === 'type' || each.exportKind === 'type');
}

function isNamed(node: unknown, name: string): boolean {
  return isNode(node) && node.type === 'Identifier' && node.name === name;
}

function isKey(node: unknown, name: string): boolean {
  return isNamed(node, name) || (isNode(node) && node.type === 'Literal' && node.value === name);
}

/** `Date.now`, `new Date()` and `Date()` without an argument, `Math.random`, `performance`, `crypto`. */
export function readsClock(node: Node): boolean {
  if (node.type === 'MemberExpression') {
    const { object, property } = node;
    if (isNamed(object, 'performance') || isNamed(object, 'crypto')) return true;
    return (
      (isNamed(object, 'Date') && isKey(property, 'now')) || (isNamed(object, 'Math') && isKey(property, 'random'))
    );
  }
  const makes = node.type === 'NewExpression' || node.type === 'CallExpression';
  return makes && isNamed(node.callee, 'Date') && Array.isArray(node.arguments) && node.arguments.length === 0;
}

/** A WeakMap is not among them: keyed by objects of a run, it outlives none of them, and saves working out the same twice. */
const collections = ['Map', 'Set', 'WeakSet'];
const mutators = ['push', 'pop', 'shift', 'unshift', 'splice', 'sort', 'reverse', 'fill', 'copyWithin'];

interface MutableState {
  node: Node;
  why: string;
}

/** State that would outlive one run: a workflow is replayed, and one module serves many runs one after another. */
export function mutableState(program: unknown): MutableState[] {
  const mutated = new Set([...everyNode(program)].map(mutatedName));
  const found: MutableState[] = [];
  for (const statement of topLevel(program)) {
    if (statement.type !== 'VariableDeclaration' || !Array.isArray(statement.declarations)) continue;
    if (statement.kind !== 'const') {
      found.push({ node: statement, why: `no \`${String(statement.kind)}\` at the top of a workflow module` });
    }
    for (const declarator of statement.declarations.filter(isNode)) {
      const value = unwrapped(declarator.init);
      const name = isNode(declarator.id) && typeof declarator.id.name === 'string' ? declarator.id.name : undefined;
      if (value?.type === 'NewExpression' && collections.some((each) => isNamed(value.callee, each))) {
        found.push({
          node: declarator,
          why: 'no Map or Set at the top of a workflow module: use a record or an array',
        });
      } else if (name !== undefined && mutated.has(name)) {
        found.push({ node: declarator, why: `\`${name}\` at the top of a workflow module is changed below` });
      }
    }
  }
  return found;
}

function topLevel(program: unknown): Node[] {
  if (!isNode(program) || !Array.isArray(program.body)) return [];
  return program.body.filter(isNode).map((node) => (isNode(node.declaration) ? node.declaration : node));
}

/** The expression without `as const`, `satisfies …` and the like around it. */
function unwrapped(node: unknown): Node | undefined {
  if (!isNode(node)) return undefined;
  return node.type.startsWith('TS') && isNode(node.expression) ? unwrapped(node.expression) : node;
}

/** The variable whose value this node changes: `x.a = 1`, `delete x.a`, `x.n++`, `x.push(1)`, `Object.assign(x, …)`. */
function mutatedName(node: Node): string | undefined {
  if (node.type === 'AssignmentExpression') return ownerOf(node.left);
  if (node.type === 'UpdateExpression') return ownerOf(node.argument);
  if (node.type === 'UnaryExpression' && node.operator === 'delete') return ownerOf(node.argument);
  if (node.type !== 'CallExpression' || !isNode(node.callee) || !Array.isArray(node.arguments)) return undefined;
  const { object, property } = node.callee;
  if (isNamed(object, 'Object') && isKey(property, 'assign')) return nameOf(node.arguments[0]);
  return mutators.some((each) => isKey(property, each)) ? (nameOf(object) ?? ownerOf(object)) : undefined;
}

/** `x` of `x.a`, `x[0].b` and so on. */
function ownerOf(node: unknown): string | undefined {
  const member = unwrapped(node);
  if (member?.type !== 'MemberExpression') return undefined;
  return nameOf(member.object) ?? ownerOf(member.object);
}

function nameOf(node: unknown): string | undefined {
  const named = unwrapped(node);
  return named?.type === 'Identifier' && typeof named.name === 'string' ? named.name : undefined;
}
