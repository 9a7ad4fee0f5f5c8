import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript-api';
import { schemaDocument, type JsonSchema } from './schema-of-type.js';

/** Every workflow of workflows/index.ts, with the file of protocol/ that has its messages; `null`: it has none. */
const messagesOf: Readonly<Record<string, string | null>> = {
  bookAppointment: 'protocol/appointment/messages.ts',
  deleteUser: 'protocol/deletion/messages.ts',
  deliverNotifications: 'protocol/notifications/delivery.ts',
  fetchWorkoutStream: 'protocol/workout-stream.ts',
  kitOrder: 'protocol/order/messages.ts',
  linkProvider: 'protocol/link/messages.ts',
  matchReview: 'protocol/match-review/messages.ts',
  operatorCall: null,
  parsingJob: 'protocol/report/messages.ts',
  placeKitOrder: 'protocol/order/placing-messages.ts',
  reconcileOrders: 'protocol/reconcile.ts',
  stopPlacing: 'protocol/placing-stop.ts',
  submitReport: 'protocol/report/submission-messages.ts',
};

type Definitions = Readonly<Record<string, JsonSchema>>;

/** Fields of an input that the worker alone writes. */
const internalFields = new Set(['carried']);

const workflowsFile = 'workflows/index.ts';
const notificationsFile = 'protocol/notifications/events.ts';
const answersFile = 'client/command-line/answers.ts';

/**
 * client/schemas/: for each workflow the JSON Schemas of its input, its result and its messages, those of all
 * notifications and of the answers of `labops`, for backends in other languages. They are made of the types that the worker and the client compile with.
 */
export async function jsonSchemas(projectFolder: string): Promise<ReadonlyMap<string, string>> {
  const program = programOf(projectFolder);
  const exports = (file: string) => exportsOf(program, join(projectFolder, file));
  const workflows = [...exports(workflowsFile).keys()].toSorted();
  const wireNames = new Map(
    await Promise.all(
      workflows.map(async (name) => [name, await wireNamesOf(projectFolder, messagesFor(name))] as const),
    ),
  );
  // One after the other, always in the same order: the compiler names a type by where it saw it first.
  const documents = new Map<string, JsonSchema>();
  for (const name of workflows) {
    const source = { program, projectFolder, exports, messages: messagesFor(name) };
    documents.set(name, workflowDocument(name, { ...source, wireNames: wireNames.get(name) ?? new Map() }));
  }
  documents.set('notifications', notificationsDocument(program, projectFolder));
  documents.set('labops', answersDocument(program, projectFolder));
  return new Map([...documents].map(([name, schema]) => [`client/schemas/${name}.json`, textOf(schema)]));
}

function messagesFor(workflow: string): string | null {
  const messages = messagesOf[workflow];
  if (messages === undefined) throw new Error(`Name the messages of ${workflow} in tools/json-schemas/json-schemas.ts`);
  return messages;
}

function programOf(projectFolder: string): ts.Program {
  const text = readFileSync(join(projectFolder, 'tsconfig.json'), 'utf8');
  const { compilerOptions } = JSON.parse(text) as { compilerOptions: unknown };
  const { options } = ts.convertCompilerOptionsFromJson(compilerOptions, projectFolder);
  const roots = [workflowsFile, notificationsFile, 'durations.d.ts', answersFile].map((file) =>
    join(projectFolder, file),
  );
  return ts.createProgram(roots, options);
}

/** A file's exports, by name, with the type of each. */
function exportsOf(program: ts.Program, path: string): ReadonlyMap<string, ts.Type> {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${path} is not part of the program`);
  return new Map(
    checker.getExportsOfModule(module).map((symbol) => {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      const isType = (target.flags & ts.SymbolFlags.Value) === 0;
      return [symbol.name, isType ? checker.getDeclaredTypeOfSymbol(target) : checker.getTypeOfSymbol(target)];
    }),
  );
}

/** The wire names of a file's message definitions, by the names of their exports. */
async function wireNamesOf(projectFolder: string, file: string | null): Promise<ReadonlyMap<string, string>> {
  if (file === null) return new Map();
  const exported = (await import(join(projectFolder, file))) as Record<string, { name?: string }>;
  const names = Object.keys(exported).filter((name) => /(?:Update|Query|Signal)$/.test(name));
  return new Map(names.toSorted().map((name) => [name, exported[name]?.name ?? name]));
}

interface WorkflowSource {
  program: ts.Program;
  projectFolder: string;
  messages: string | null;
  wireNames: ReadonlyMap<string, string>;
  exports: (file: string) => ReadonlyMap<string, ts.Type>;
}

function workflowDocument(name: string, source: WorkflowSource): JsonSchema {
  const checker = source.program.getTypeChecker();
  const { schemaOf, definitions } = schemaDocument(checker, source.projectFolder);
  const roots: Record<string, JsonSchema> = {};
  const [call] = source.exports(workflowsFile).get(name)?.getCallSignatures() ?? [];
  if (call === undefined) throw new Error(`${name} is not a workflow`);
  const [input] = call.getParameters();
  if (input !== undefined) roots['input'] = withoutInternals(schemaOf(checker.getTypeOfSymbol(input)), definitions);
  const result = checker.getAwaitedType(call.getReturnType());
  if (result !== undefined && !(result.flags & ts.TypeFlags.Void)) roots['result'] = schemaOf(result);
  for (const [exportName, wireName] of source.wireNames) {
    const definition = source.exports(source.messages ?? '').get(exportName);
    if (definition === undefined) throw new Error(`${exportName} is not exported`);
    Object.assign(roots, messageSchemas(definition, wireName, { checker, schemaOf }));
  }
  return document(`Messages of ${name}`, roots, definitions);
}

/** The schemas of an update's or query's argument and answer, or of a signal's argument. */
function messageSchemas(
  definition: ts.Type,
  wireName: string,
  { checker, schemaOf }: { checker: ts.TypeChecker; schemaOf: (type: ts.Type) => JsonSchema },
): Record<string, JsonSchema> {
  const kind = definition.symbol.name.replace('Definition', '').toLowerCase();
  const parameters = checker.getTypeArguments(definition as ts.TypeReference);
  const [answer, args] = kind === 'signal' ? [undefined, parameters[0]] : parameters;
  const [argument] = args === undefined ? [] : checker.getTypeArguments(args as ts.TypeReference);
  return {
    ...(argument !== undefined && { [`${kind}.${wireName}.argument`]: schemaOf(argument) }),
    ...(answer !== undefined && { [`${kind}.${wireName}.answer`]: schemaOf(answer) }),
  };
}

/** An input as its caller gives it. */
function withoutInternals(input: JsonSchema, definitions: Record<string, JsonSchema>): JsonSchema {
  const ref = typeof input['$ref'] === 'string' ? input['$ref'].replace('#/$defs/', '') : undefined;
  const properties = ref === undefined ? undefined : definitions[ref]?.['properties'];
  if (ref === undefined || properties === undefined) return input;
  const own = Object.entries(properties as object).filter(([name]) => !internalFields.has(name));
  definitions[ref] = { ...definitions[ref], properties: Object.fromEntries(own) };
  return input;
}

function notificationsDocument(program: ts.Program, projectFolder: string): JsonSchema {
  const checker = program.getTypeChecker();
  const { schemaOf, definitions } = schemaDocument(checker, projectFolder);
  const event = exportsOf(program, join(projectFolder, notificationsFile)).get('NotificationEvent');
  if (event?.isUnion() !== true) throw new Error('NotificationEvent is not a union');
  const byType = event.types.map((member): [string, JsonSchema] => {
    const type = member.getProperty('type');
    const literal = type && checker.getTypeOfSymbol(type);
    if (literal?.isStringLiteral() !== true) throw new Error(`${checker.typeToString(member)} has no type`);
    return [literal.value, schemaOf(member)];
  });
  byType.sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    ...document(
      'Notifications, by their type. A newer worker may send others.',
      Object.fromEntries(byType),
      definitions,
    ),
    anyOf: byType.map(([type]) => ({ $ref: `#/$defs/${type}` })),
  };
}

/** The JSON of each command, and `failed`, that of an error. */
function answersDocument(program: ts.Program, projectFolder: string): JsonSchema {
  const checker = program.getTypeChecker();
  const { schemaOf, definitions } = schemaDocument(checker, projectFolder);
  const types = exportsOf(program, join(projectFolder, answersFile));
  const [answers, failed] = [types.get('Answers'), types.get('Failed')];
  if (!answers || !failed) throw new Error(`${answersFile} exports no Answers, or no Failed`);
  const byCommand = checker
    .getPropertiesOfType(answers)
    .map((command): [string, JsonSchema] => [
      command.name.replace(' ', '.'),
      schemaOf(checker.getTypeOfSymbol(command)),
    ]);
  const roots = Object.fromEntries([...byCommand, ['failed', schemaOf(failed)] as const]);
  return document('Answers of labops in JSON, by command', roots, definitions);
}

/** The named schemas first, then what they refer to, by name. */
function document(title: string, roots: Readonly<Record<string, JsonSchema>>, definitions: Definitions): JsonSchema {
  const sorted = Object.entries(definitions).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title,
    $comment: 'Generated by `npm run docs` from the types of protocol/ and workflows/.',
    $defs: { ...roots, ...Object.fromEntries(sorted) },
  };
}

function textOf(schema: JsonSchema): string {
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}
