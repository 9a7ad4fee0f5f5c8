import { relative } from 'node:path';
import ts from 'typescript-api';

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The schemas of one document: what its types refer to stands in `definitions`, by the type's name. */
export interface SchemaDocument {
  definitions: Record<string, JsonSchema>;
  schemaOf: (type: ts.Type) => JsonSchema;
}

const scalars: readonly (readonly [flag: ts.TypeFlags, schema: JsonSchema])[] = [
  [ts.TypeFlags.Any | ts.TypeFlags.Unknown, {}],
  [ts.TypeFlags.StringLike, { type: 'string' }],
  [ts.TypeFlags.NumberLike, { type: 'number' }],
  [ts.TypeFlags.BooleanLike, { type: 'boolean' }],
  [ts.TypeFlags.Null, { type: 'null' }],
];

/**
 * Writes TypeScript's types as JSON Schemas, with their doc comments as descriptions. Only what is plain JSON can be
 * written: anything else is an error. Objects stay open, because a later release may add fields.
 */
export function schemaDocument(checker: ts.TypeChecker, projectFolder: string): SchemaDocument {
  const definitions: Record<string, JsonSchema> = {};
  const named = new Map<ts.Type, string>();

  function schemaOf(type: ts.Type): JsonSchema {
    const name = named.get(type) ?? nameOf(type, projectFolder);
    if (name === undefined) return inline(type);
    if (!named.has(type)) define(type, name);
    return { $ref: `#/$defs/${named.get(type) ?? name}` };
  }

  /** Two types of one name keep apart by a number. */
  function define(type: ts.Type, name: string): void {
    let unique = name;
    for (let n = 2; unique in definitions; n += 1) unique = `${name}${n}`;
    named.set(type, unique);
    definitions[unique] = {};
    definitions[unique] = { ...described(type.aliasSymbol ?? type.symbol, checker), ...inline(type) };
  }

  function inline(type: ts.Type): JsonSchema {
    if (type.isLiteral()) return { const: type.value };
    if (type.flags & ts.TypeFlags.BooleanLiteral) return { const: checker.typeToString(type) === 'true' };
    const scalar = scalars.find(([flag]) => (type.flags & flag) !== 0);
    if (scalar !== undefined) return scalar[1];
    // As JSON.stringify writes it.
    if (type.symbol?.name === 'Date') return { type: 'string', description: 'ISO 8601 in UTC' };
    if (type.isUnion()) return unionOf(type.types);
    if (checker.isTupleType(type)) return tupleOf(type as ts.TupleTypeReference);
    if (checker.isArrayType(type)) return { type: 'array', items: schemaOf(elementOf(type, checker)) };
    if (type.isIntersection() || type.flags & ts.TypeFlags.Object) return objectOf(type);
    throw new TypeError(`No JSON Schema can be written for ${checker.typeToString(type)}`);
  }

  function tupleOf(type: ts.TupleTypeReference): JsonSchema {
    const items = checker.getTypeArguments(type).map(schemaOf);
    return { type: 'array', prefixItems: items, minItems: type.target.minLength, maxItems: items.length };
  }

  function unionOf(types: readonly ts.Type[]): JsonSchema {
    const present = types.filter(({ flags }) => !(flags & ts.TypeFlags.Undefined));
    const literals = present.flatMap((type) => (type.isLiteral() ? [type.value] : []));
    const others = present.filter((type) => !type.isLiteral()).map(schemaOf);
    // The compiler's own order changes with every file that it reads.
    const parts = [...(literals.length > 0 ? [enumOf(sorted(literals))] : []), ...sorted(withoutRepeats(others))];
    return parts.length === 1 ? (parts[0] ?? {}) : { anyOf: parts };
  }

  function objectOf(type: ts.Type): JsonSchema {
    if (checker.getSignaturesOfType(type, ts.SignatureKind.Call).length > 0) {
      throw new TypeError(`${checker.typeToString(type)} is a function, which is not JSON`);
    }
    const properties = checker.getPropertiesOfType(type);
    const required = properties.filter((each) => !isOptional(each)).map(({ name }) => name);
    const [index] = checker.getIndexInfosOfType(type);
    return {
      type: 'object',
      ...(properties.length > 0 && { properties: Object.fromEntries(properties.map(propertyOf)) }),
      ...(required.length > 0 && { required }),
      ...(index !== undefined && { additionalProperties: schemaOf(index.type) }),
    };
  }

  function propertyOf(property: ts.Symbol): [name: string, schema: JsonSchema] {
    return [property.name, { ...described(property, checker), ...schemaOf(checker.getTypeOfSymbol(property)) }];
  }

  return { definitions, schemaOf };
}

function elementOf(type: ts.Type, checker: ts.TypeChecker): ts.Type {
  const [element] = checker.getTypeArguments(type as ts.TypeReference);
  if (element === undefined) throw new TypeError(`${checker.typeToString(type)} has no elements`);
  return element;
}

function isOptional(property: ts.Symbol): boolean {
  return (property.flags & ts.SymbolFlags.Optional) !== 0;
}

function described(symbol: ts.Symbol | undefined, checker: ts.TypeChecker): JsonSchema {
  const comment = ts.displayPartsToString(symbol?.getDocumentationComment(checker) ?? []);
  return comment === '' ? {} : { description: comment.replaceAll(/\s+/g, ' ') };
}

/** The name of a type that this project declares, unless it has type parameters. */
function nameOf(type: ts.Type, projectFolder: string): string | undefined {
  const symbol = type.aliasSymbol ?? (type.isClassOrInterface() ? type.symbol : undefined);
  if (symbol === undefined || type.aliasTypeArguments !== undefined) return undefined;
  const [declaration] = symbol.declarations ?? [];
  if (declaration === undefined) return undefined;
  const path = relative(projectFolder, declaration.getSourceFile().fileName);
  return path.startsWith('..') || path.includes('node_modules') ? undefined : symbol.name;
}

function sorted<Value>(values: readonly Value[]): Value[] {
  return values.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

function enumOf(values: readonly unknown[]): JsonSchema {
  return values.length === 1 ? { const: values[0] } : { enum: values };
}

function withoutRepeats(schemas: readonly JsonSchema[]): JsonSchema[] {
  const seen = new Map(schemas.map((schema) => [JSON.stringify(schema), schema]));
  const isEither = [true, false].every((value) => seen.has(JSON.stringify({ const: value })));
  if (!isEither) return [...seen.values()];
  const others = [...seen.values()].filter(({ const: value }) => typeof value !== 'boolean');
  return [{ type: 'boolean' }, ...others];
}
