import { isNode, parse, type Node } from '../rig/syntax.js';

/** One test and the items of the specification that its title names, as `[6, 20, I3]` at its end. */
export interface NumberedTest {
  /** With the titles of the groups around it. A placeholder is filled where the numbers come from rows too. */
  title: string;
  items: string[];
}

/**
 * The tests of a source file whose titles end in numbers. A number may come from the rows of `test.each`: `$item` is the
 * row's value of that name, `%i` or `%s` the value at its place; a text may hold several numbers. Read from the source, so
 * rows must be written out: in place, in a constant of the file, or in one mapped from tuples to objects. A test that is
 * skipped or yet to be written proves nothing.
 *
 * @throws where a placeholder among the numbers cannot be resolved
 */
export function numberedTestsOf(text: string): NumberedTest[] {
  const program = parse(text);
  const found: NumberedTest[] = [];
  collect(program, { program, groups: [], found });
  return found;
}

interface Search {
  program: unknown;
  groups: readonly string[];
  found: NumberedTest[];
}

function collect(value: unknown, search: Search): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, search);
    return;
  }
  if (!isNode(value)) return;
  const call = titledCall(value);
  if (call?.kind === 'test') addTest(call, value, search);
  const groups = call?.kind === 'describe' ? [...search.groups, call.title] : search.groups;
  for (const child of Object.values(value)) collect(child, { ...search, groups });
}

interface TitledCall {
  kind: 'test' | 'describe';
  title: string;
  /** What `each` was given. */
  rows?: unknown;
}

/** `test('…')`, `describe('…')`, `test.each(rows)('…')`. */
function titledCall(node: Node): TitledCall | undefined {
  if (node.type !== 'CallExpression' || !isNode(node.callee)) return undefined;
  const each = node.callee.type === 'CallExpression' ? node.callee : undefined;
  const called = each && isNode(each.callee) ? each.callee : node.callee;
  const root = called.type === 'MemberExpression' && isNode(called.object) ? called.object : called;
  if (root.name !== 'test' && root.name !== 'describe') return undefined;
  if (isNode(called.property) && ['skip', 'todo'].includes(String(called.property.name))) return undefined;
  const title = textOf(argumentsOf(node)[0]);
  if (title === undefined) return undefined;
  return { kind: root.name, title, ...(each && { rows: argumentsOf(each)[0] }) };
}

function addTest({ title, rows }: TitledCall, node: Node, { program, groups, found }: Search): void {
  const match = /^(.*?) ?\[((?:I?\d+|%[is]|\$item)(?:, (?:I?\d+|%[is]|\$item))*)\]$/.exec(title);
  if (match === null) return;
  const [, said = '', list = ''] = match;
  const numbers = list.split(', ');
  const inRows = numbers.some((number) => /^[%$]/.test(number));
  const { list: tuples, names } = inRows ? rowsOf(rows, program, node.start) : { list: [undefined], names: undefined };
  const unread = `the rows of "${title}" do not show their numbers: write them out`;
  if (tuples.length === 0) throw new Error(unread);
  for (const row of tuples) {
    const fill = filler(row, names);
    const filled = fill(said);
    const items = fill(list).split(', ');
    if (!items.every((item) => /^I?\d+$/.test(item))) throw new Error(unread);
    found.push({ title: [...groups, filled].join(' › '), items: [...new Set(items)] });
  }
}

/** Puts a row's values in the place of `$name` and `%s`, one text after the other; what is no literal stays as it is. */
function filler(row: unknown, names: Rows['names']): (text: string) => string {
  let place = 0;
  const valueNamed = (name: string) => {
    if (names !== undefined) return elementsOf(row)[names.indexOf(name)];
    return propertiesOf(row).find((each) => isNode(each.key) && each.key.name === name)?.value;
  };
  return (text) =>
    text.replace(/%[sdifjoO]|\$(\w+)/g, (placeholder, name: string | undefined) => {
      const node = unwrapped(name === undefined ? elementsOf(row)[place++] : valueNamed(name));
      const value = node?.type === 'Literal' ? node.value : undefined;
      return typeof value === 'string' || typeof value === 'number' ? String(value) : placeholder;
    });
}

interface Rows {
  list: unknown[];
  /** Where tuples are mapped to objects: the name of each place. */
  names?: (string | undefined)[];
}

function rowsOf(value: unknown, program: unknown, before: number): Rows {
  const node = unwrapped(value);
  if (node?.type === 'ArrayExpression') return { list: elementsOf(node) };
  if (node?.type === 'Identifier') return rowsOf(declared(node.name, program, before), program, before);
  if (node?.type !== 'CallExpression' || !isNode(node.callee)) return { list: [] };
  const [mapper] = argumentsOf(node).filter(isNode);
  const pattern = Array.isArray(mapper?.params) ? unwrapped(mapper.params[0]) : undefined;
  const names = elementsOf(pattern).map((each) => (isNode(each) ? String(each.name) : undefined));
  return { ...rowsOf(node.callee.object, program, before), names };
}

/** What the nearest constant of that name above was given. */
function declared(name: unknown, program: unknown, before: number): unknown {
  let nearest: Node | undefined;
  const search = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(search);
    else if (isNode(value) && value.start < before) {
      if (value.type === 'VariableDeclarator' && isNode(value.id) && value.id.name === name) nearest = value;
      Object.values(value).forEach(search);
    }
  };
  search(program);
  return nearest?.init;
}

function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  const pieces = node.type === 'TemplateLiteral' && Array.isArray(node.quasis) ? node.quasis.filter(isNode) : [];
  const texts = pieces.map(({ value }) => {
    const known = typeof value === 'object' && value !== null && 'cooked' in value && typeof value.cooked === 'string';
    return known ? (value.cooked as string) : '';
  });
  if (texts.length > 1 && texts.at(-1)?.endsWith(']')) {
    throw new Error(`the title "${texts.join('…')}" ends in brackets: numbers are read from plain texts and rows only`);
  }
  return texts.length === 1 ? texts[0] : undefined;
}

function unwrapped(node: unknown): Node | undefined {
  if (!isNode(node)) return undefined;
  return node.type.startsWith('TS') && isNode(node.expression) ? unwrapped(node.expression) : node;
}

function argumentsOf(node: Node): unknown[] {
  return Array.isArray(node.arguments) ? node.arguments : [];
}

function elementsOf(node: unknown): unknown[] {
  return isNode(node) && Array.isArray(node.elements) ? node.elements : [];
}

function propertiesOf(node: unknown): Node[] {
  return isNode(node) && Array.isArray(node.properties) ? node.properties.filter(isNode) : [];
}
