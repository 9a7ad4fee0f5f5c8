import type { Connection } from '@temporalio/client';
import { SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import { code, grpcErrorOf, hasCode } from '../../client/temporal-errors.js';
import { searchAttributeKeys } from '../../protocol/search-attributes.js';

/** The namespace lacks search attributes that the workflows set, and they could not be registered from here. */
export class SearchAttributesMissing extends Error {
  override readonly name = 'SearchAttributesMissing';

  readonly problem: string;
  readonly remedy: string;

  /** @param problem and `remedy` are sentences */
  constructor(problem: string, remedy: string) {
    super(`${problem} ${remedy}`);
    this.problem = problem;
    this.remedy = remedy;
  }
}

/** The services of either kind of connection: the worker's native one and the client's have the same. */
type Services = Pick<Connection, 'operatorService' | 'workflowService'>;

/** Numbers of temporal.api.enums.v1.IndexedValueType for the types that we use. */
const indexedTypes = {
  [SearchAttributeType.KEYWORD]: 2,
  [SearchAttributeType.DATETIME]: 6,
  [SearchAttributeType.KEYWORD_LIST]: 7,
} as const;

/** A value of each type that no workflow has: a query by it is cheap. */
const absentValues = { 2: 'none', 6: '1970-01-01T00:00:00Z', 7: 'none' } as const;

const required = searchAttributeKeys.map(({ name, type }) => ({ name, type, indexed: indexedTypes[type] }));

/**
 * Ensures that the namespace has the search attributes: a workflow that sets an unregistered one would be retried
 * forever. Registers missing ones if it may.
 *
 * @returns the names that were registered now
 * @throws SearchAttributesMissing with the commands for an administrator
 */
export async function ensureSearchAttributes(services: Services, namespace: string): Promise<string[]> {
  const absent = await absentFrom(services, namespace);
  if (absent.length === 0) return [];
  await register(services, namespace, absent);
  await untilAccepted(services, namespace);
  return absent.map(({ name }) => name);
}

/**
 * The same, but registers nothing.
 *
 * @throws SearchAttributesMissing with the commands for an administrator
 */
export async function requireSearchAttributes(services: Services, namespace: string): Promise<void> {
  const absent = await absentFrom(services, namespace);
  if (absent.length === 0) return;
  throw missing(namespace, absent, `lacks search attributes (${absent.map(({ name }) => name).join(', ')})`);
}

async function absentFrom(services: Services, namespace: string): Promise<typeof required> {
  const present = await listed(services, namespace);
  if (present === 'refused') {
    if (await accepted(services, namespace)) return [];
    throw missing(namespace, required, 'lacks search attributes that this worker is not allowed to list or register');
  }
  const wrong = required.filter(({ name, indexed }) => present[name] !== undefined && present[name] !== indexed);
  if (wrong.length > 0) throw wronglyTyped(namespace, wrong);
  return required.filter(({ name }) => present[name] === undefined);
}

async function listed(services: Services, namespace: string): Promise<Record<string, number> | 'refused'> {
  try {
    return (await services.operatorService.listSearchAttributes({ namespace })).customAttributes;
  } catch (error) {
    if (isRefusal(error)) return 'refused';
    throw error;
  }
}

async function register(services: Services, namespace: string, absent: typeof required): Promise<void> {
  const searchAttributes = Object.fromEntries(absent.map(({ name, indexed }) => [name, indexed]));
  try {
    await services.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    if (hasCode(error, code.alreadyExists)) return; // another worker that starts at the same time was faster
    if (isRefusal(error))
      throw missing(namespace, absent, 'lacks search attributes that this worker is not allowed to register');
    const { details = '' } = grpcErrorOf(error) ?? {};
    if (/cannot have more than/i.test(details)) throw usedUp(namespace, details);
    throw error;
  }
}

/**
 * True if the namespace knows all names: a query by them is refused otherwise. Needs no more than a reader's rights.
 */
async function accepted({ workflowService }: Services, namespace: string): Promise<boolean> {
  const query = required.map(({ name, indexed }) => `${name} = '${absentValues[indexed]}'`).join(' OR ');
  try {
    await workflowService.countWorkflowExecutions({ namespace, query });
    return true;
  } catch (error) {
    if (hasCode(error, code.invalidArgument)) return false;
    throw error;
  }
}

/** The server's parts learn of a new search attribute one after the other, within seconds. */
async function untilAccepted(services: Services, namespace: string): Promise<void> {
  for (const deadline = Date.now() + 30_000; !(await accepted(services, namespace));) {
    if (Date.now() > deadline) {
      throw new SearchAttributesMissing(
        `The namespace ${namespace} does not accept search attributes that were registered 30 seconds ago.`,
        'Start the worker again.',
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

function missing(namespace: string, attributes: typeof required, fault: string): SearchAttributesMissing {
  return new SearchAttributesMissing(
    `The namespace ${namespace} ${fault}.`,
    `Let an administrator run: ${creationOf(namespace, attributes)}`,
  );
}

/** With a SQL database, a namespace has a few columns for each type, and others have taken them. */
function usedUp(namespace: string, details: string): SearchAttributesMissing {
  return new SearchAttributesMissing(
    `The namespace ${namespace} has no room for our search attributes (${details.replace(/\.$/, '')}).`,
    'Give it a namespace of its own, and set TEMPORAL_NAMESPACE (docs/operations.md#search-attributes).',
  );
}

function wronglyTyped(namespace: string, attributes: typeof required): SearchAttributesMissing {
  const names = attributes.map(({ name }) => `--name ${name}`).join(' ');
  const removal = `temporal operator search-attribute remove --yes --namespace ${namespace} ${names}`;
  return new SearchAttributesMissing(
    `The namespace ${namespace} has search attributes of our names with other types.`,
    `Use another namespace, or let an administrator run: ${removal} && ${creationOf(namespace, attributes)}`,
  );
}

function creationOf(namespace: string, attributes: typeof required): string {
  const names = attributes
    .map(({ name, type }) => `--name ${name} --type ${TypedSearchAttributes.toMetadataType(type)}`)
    .join(' ');
  return `temporal operator search-attribute create --namespace ${namespace} ${names}`;
}

/** A hosted server has no operator service at all, or not for us. */
function isRefusal(error: unknown): boolean {
  return hasCode(error, code.permissionDenied, code.unimplemented, code.unauthenticated);
}
