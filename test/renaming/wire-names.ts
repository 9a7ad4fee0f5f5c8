import { isNode, parse, type Node } from '../rig/syntax.js';

export type WireKind = 'field' | 'path' | 'header' | 'value';

/** One place in a source file where a name of the wire stands, and the text that renames it there. */
export interface Renaming {
  kind: WireKind;
  /** The name as it stands. */
  name: string;
  line: number;
  /** The piece of the source that is replaced. */
  start: number;
  end: number;
  replacement: string;
}

/**
 * Every name of the wire in a file of service/: keys of schemas, bodies and queries, fields that are read by their text,
 * paths, headers, and words that are sent, expected or compared (enum values, event types). Found in the syntax tree,
 * so that comments, types and imports are left out of themselves. A field that is read as a property of what a schema gave
 * (`order.sample_id`) is the schema's key, and the compiler holds the two together: it counts once, at the schema.
 *
 * Left out by rule, because nobody on the wire sees it:
 * - texts with a space in them: they are sentences for people (rules, problems, warnings);
 * - the name of an error class, the word after `typeof`, and the methods GET, POST and so on, which are no names;
 * - words that Node or a library understands (`otherCalls`), and words of our own (`ownWords`): not the service's;
 * - the names in a path's template and in `params`, which fills them: both go before anything is sent;
 * - camelCase, which is ours (the wire's two exceptions are `camelOfTheWire`);
 * - keys of one word outside schemas, bodies and queries: objects of our own, as `{ kind, problem }`.
 */
export function wireNamesOf(text: string): Renaming[] {
  const found: Renaming[] = [];
  visit(parse(text), { found, text, around: [] });
  return found.toSorted((one, other) => one.start - other.start);
}

/** The source with that one name written differently. */
export function renamedSource(text: string, { start, end, replacement }: Renaming): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

interface Walk {
  found: Renaming[];
  text: string;
  /** The nodes around this one, the innermost last. */
  around: readonly Node[];
}

/** Calls whose texts Node or a library understands (events, encodings, hashes, forms, flags), or we alone do. */
const otherCalls = new Set([
  ...['on', 'once', 'addEventListener', 'removeEventListener', 'emitWarning', 'createHmac', 'toString', 'from'],
  ...['normalize', 'DisplayNames', 'Locale', 'RegExp', 'addIssue', 'split', 'join'],
  ...['textAs', 'problemOf'],
]);
/** Properties whose values tell our own alternatives apart, or are no names. */
const ownWords = new Set(['kind', 'auth', 'reason', 'method', 'name', 'code', 'key']);
const camelOfTheWire = new Set(['consentType', 'timeOfConsent']);
/** Plain words that are read off a record of the wire by destructuring. */
const plainReads = new Set(['detail', 'loc', 'msg', 'type', 'data']);
/** Words of the wire that stand in regular expressions. */
const wordsInPatterns = /\b(?:daily|historical|data|created|updated|whsec)(?=\b|_)/g;
const schemaCalls = new Set(['object', 'strictObject', 'looseObject', 'extend']);
const sentObjects = new Set(['body', 'query', 'headers']);

function visit(value: unknown, walk: Walk): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, walk);
    return;
  }
  if (!isNode(value) || isPassedOver(value, walk)) return;
  if (value.type === 'Property') property(value, walk);
  else if (value.type === 'Literal') literal(value, walk);
  else if (value.type === 'TemplateLiteral') template(value, walk);
  const inner = { ...walk, around: [...walk.around, value] };
  for (const [key, child] of Object.entries(value)) {
    if (key !== 'key' || value.computed === true) visit(child, inner);
  }
}

/** What holds no name that is sent or read. */
function isPassedOver(node: Node, { around }: Walk): boolean {
  if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return true;
  if (node.type === 'ExportNamedDeclaration' && isNode(node.source)) return true;
  if (node.type === 'PropertyDefinition' && nameOf(node.key) === 'name') return true;
  const wraps = ['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'];
  if (node.type.startsWith('TS') && !wraps.includes(node.type)) return true;
  const parent = around.at(-1);
  if (parent?.type !== 'Property' || parent.value !== node) return false;
  const name = nameOf(parent.key) ?? '';
  // `{ field, rule }` names an argument of ours, and a list under `path` a place in what was checked.
  if (name === 'field') return keysOf(around.at(-2)).includes('rule');
  return name === 'path' ? node.type === 'ArrayExpression' : ownWords.has(name) && node.type !== 'CallExpression';
}

function property(node: Node, walk: Walk): void {
  const name = nameOf(node.key);
  if (node.computed === true || name === undefined || !isNode(node.key)) return;
  const owner = walk.around.at(-1);
  const isWire = owner?.type === 'ObjectPattern' ? isWireRead(name, owner, walk) : isWireKey(name, node, owner, walk);
  if (!isWire) return;
  const kind = isHeaderName(name) || inside(walk, 'headers') ? 'header' : 'field';
  add(walk, kind, name, node.key, node.shorthand === true ? (renamed) => `${renamed}: ${name}` : undefined);
}

function isWireRead(name: string, pattern: Node, { around }: Walk): boolean {
  if (/_/.test(name)) return true;
  const declarator = around.at(-2);
  if (declarator?.type !== 'VariableDeclarator' || declarator.id !== pattern || !plainReads.has(name)) return false;
  const from = isNode(declarator.init) ? nameOf(unwrapped(declarator.init)) : undefined;
  return ['body', 'entry', 'event'].includes(from ?? '');
}

function isWireKey(name: string, node: Node, owner: Node | undefined, walk: Walk): boolean {
  if (inside(walk, 'params') || isConstantWithName(walk, 'params') || isParamsFunction(walk)) return false;
  if (isOurs(name)) return false;
  if (/[_/-]/.test(name)) return true;
  if (owner === undefined || isCall(owner) || keysOf(owner).some(isOurs)) return false;
  return isSchemaShape(owner, walk) || isSent(owner, walk) || isSchemaValue(node.value) || hasWireKeys(owner);
}

function isOurs(name: string): boolean {
  return /^[a-z]+[A-Z]/.test(name) && !camelOfTheWire.has(name);
}

/** The options of `transport.request` and their like: their keys are ours. */
function isCall(object: Node): boolean {
  return keysOf(object).some((key) => ['answer', 'path', 'method', 'auth', 'params'].includes(key));
}

function isSchemaShape(object: Node, { around }: Walk): boolean {
  const call = around.at(-2);
  if (call?.type !== 'CallExpression' || !Array.isArray(call.arguments) || call.arguments[0] !== object) return false;
  const callee = isNode(call.callee) ? call.callee : undefined;
  return callee?.type === 'MemberExpression' && schemaCalls.has(nameOf(callee.property) ?? '');
}

/** The value of `body`, `query` or `headers`, or a constant of that name, itself or one level within it. */
function isSent(object: Node, walk: Walk): boolean {
  const names = walk.around.slice(-3).map((node) => (node.type === 'Property' ? nameOf(node.key) : undefined));
  if (names.some((name) => name !== undefined && sentObjects.has(name))) return true;
  if (object.type !== 'ObjectExpression') return false;
  return walk.around.slice(-5).some((node) => {
    return node.type === 'VariableDeclarator' && sentObjects.has(nameOf(node.id) ?? '');
  });
}

function isConstantWithName({ around }: Walk, name: string): boolean {
  return around.slice(-3).some((node) => node.type === 'VariableDeclarator' && nameOf(node.id) === name);
}

/** A function whose name says that it fills a path's template. */
function isParamsFunction({ around }: Walk): boolean {
  return around.some((node) => node.type === 'FunctionDeclaration' && nameOf(node.id)?.endsWith('Params'));
}

/** `z.…`, `…Schema`, `…Schema.…`: a part of a shape that others are made of. */
function isSchemaValue(value: unknown): boolean {
  if (!isNode(value)) return false;
  if (value.type === 'CallExpression') return isSchemaValue(value.callee);
  if (value.type === 'MemberExpression') return isSchemaValue(value.object);
  return value.type === 'Identifier' && /^z$|Schema$/.test(nameOf(value) ?? '');
}

function hasWireKeys(object: Node): boolean {
  return keysOf(object).some((key) => key.includes('_'));
}

function literal(node: Node, walk: Walk): void {
  if (node.regex != null) return pattern(node, walk);
  if (typeof node.value !== 'string' || !isWord(node.value) || isNotTheWires(node, walk)) return;
  add(walk, kindOf(node.value, walk), node.value, node);
}

function pattern(node: Node, walk: Walk): void {
  for (const match of walk.text.slice(node.start, endOf(node)).matchAll(wordsInPatterns)) {
    const start = node.start + match.index;
    put(walk, 'value', match[0], start, start + match[0].length, `${match[0]}_renamed`);
  }
}

/** One piece of it at a time: `${KEYS}/{key_id}`, `x-${brand}-api-key`; of the lines of a form, one word at a time. */
function template(node: Node, walk: Walk): void {
  const pieces = (Array.isArray(node.quasis) ? node.quasis.filter(isNode) : []).map((piece) => {
    const text = walk.text.slice(piece.start, endOf(piece));
    const [before = ''] = /^[`}]?/.exec(text) ?? [];
    return { start: piece.start + before.length, name: text.slice(before.length).replace(/`$|\$\{$/, '') };
  });
  const isForm = pieces.some(({ name }) => /\\r\\n|="/.test(name));
  if (!isForm && (pieces.some(({ name }) => /\s/.test(name)) || isNotTheWires(node, walk))) return;
  for (const { start, name } of pieces) {
    if (isForm) {
      for (const match of name.replaceAll('\\r\\n', '    ').matchAll(/[a-z][a-z-]{3,}/g)) {
        const at = start + match.index;
        put(walk, 'header', match[0], at, at + match[0].length, `${match[0]}-renamed`);
      }
    } else if (isWord(name)) {
      const kind = kindOf(name, walk);
      put(walk, kind, name, start, start + name.length, renamed(kind, name));
    }
  }
}

/** Letters, and no space: neither punctuation nor a sentence nor a template's name alone. */
function isWord(text: string): boolean {
  const fixed = text.replace(/\{\w+\}/g, '');
  return /[A-Za-z]/.test(fixed) && fixed.length > 1 && /^[\w.:/{};=,+$-]+$/.test(text) && !isOurs(text);
}

function isNotTheWires(node: Node, { around }: Walk): boolean {
  const parent = around.at(-1);
  if (parent?.type === 'BinaryExpression') {
    const other = unwrapped(parent.left === node ? parent.right : parent.left);
    if (other?.type === 'UnaryExpression') return true;
    const compared = other?.type === 'MemberExpression' ? nameOf(other.property) : nameOf(other);
    // `'user' in answer` is a question about an answer of our own.
    return compared !== undefined && (ownWords.has(compared) || (parent.operator === 'in' && compared === 'answer'));
  }
  if (parent?.type === 'MemberExpression') return false;
  const nearest = around.slice(-4).findLast((each) => each.type === 'CallExpression' || each.type === 'NewExpression');
  const callee = unwrapped(nearest?.callee);
  const called = callee?.type === 'MemberExpression' ? nameOf(callee.property) : nameOf(callee);
  return called !== undefined && (otherCalls.has(called) || called.endsWith('Error'));
}

function kindOf(word: string, walk: Walk): WireKind {
  if (word.startsWith('/')) return 'path';
  if (isHeaderName(word) || inside(walk, 'headers')) return 'header';
  const parent = walk.around.at(-1);
  return parent?.type === 'MemberExpression' ? 'field' : 'value';
}

function isHeaderName(word: string): boolean {
  return /^(?:x-|content-|retry-|accept$|svix$|webhook$)|-(?:api-key|link-token|org-key|id|timestamp|signature)$/.test(
    word,
  );
}

/** Whether this is in the value of a property of that name. */
function inside({ around }: Walk, name: string): boolean {
  return around.some((node) => node.type === 'Property' && nameOf(node.key) === name);
}

function add(walk: Walk, kind: WireKind, name: string, node: Node, around: (renamed: string) => string = same): void {
  const quoted = /^['"]/.test(walk.text.slice(node.start, node.start + 1));
  const [start, end] = quoted ? [node.start + 1, endOf(node) - 1] : [node.start, endOf(node)];
  put(walk, kind, name, start, end, around(renamed(kind, name)));
}

function put(
  { found, text }: Walk,
  kind: WireKind,
  name: string,
  start: number,
  end: number,
  replacement: string,
): void {
  const line = text.slice(0, start).split('\n').length;
  found.push({ kind, name, line, start, end, replacement });
}

/** A path loses its last fixed step, since the first ones are a version that others share. */
function renamed(kind: WireKind, name: string): string {
  if (kind === 'path') return name.replace(/([\w-]+)((?:\/|\{\w+\})*)$/, '$1-renamed$2');
  return /-|\//.test(name) && kind !== 'field' ? `${name}-renamed` : `${name}_renamed`;
}

function same(text: string): string {
  return text;
}

function keysOf(object: Node | undefined): string[] {
  const properties = Array.isArray(object?.properties) ? object.properties.filter(isNode) : [];
  return properties.flatMap((each) => nameOf(each.key) ?? []);
}

function endOf(node: Node): number {
  return typeof node.end === 'number' ? node.end : node.start;
}

function unwrapped(node: unknown): Node | undefined {
  if (!isNode(node)) return undefined;
  return node.type.startsWith('TS') && isNode(node.expression) ? unwrapped(node.expression) : node;
}

/** An identifier's name, or a text. */
function nameOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === 'Identifier' && typeof node.name === 'string') return node.name;
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined;
}
