import { commandLine } from '../command-line.js';
import { checkDescription, type Findings } from './check.js';
import { DescriptionInvalid, readDescription } from './description.js';

/*
 * `npm run service-check -- --openapi FILE`: compares what the client sends and reads with a deployment's OpenAPI description.
 * Exit status 0: they agree; 1: they do not; 2: the file or an option cannot be used.
 */

function print({ violations, unknownFields, unknown, counts }: Findings): void {
  const list = (title: string, entries: readonly string[]): void => {
    if (entries.length > 0) console.log(`\n${title}\n${entries.map((entry) => `  ${entry}`).join('\n')}`);
  };
  list('Fields of answers that the client passes on without knowing them:', unknownFields);
  list('Statuses that have no meaning of their own here, and keep that of their first part:', unknown.statuses);
  list('Event types that are not handled:', unknown.events);
  list('Violations:', violations);
  const { calls, requests, examples } = counts;
  console.log(`\n${calls} calls, ${requests} requests, ${examples} examples: ${violations.length} violations.`);
}

interface Given {
  openapi: string;
  without: string[];
  brand?: string;
  ordersPath?: string;
  usersPath?: string;
  createOrderPath?: string;
}

const { openapi, without, ...config } = commandLine(
  'service-check',
  "Compares what the client sends and reads with a deployment's OpenAPI description.",
)
  .requiredOption('--openapi <file>', 'the description: OpenAPI 3.0 or 3.1, JSON or YAML')
  .option('--without <calls...>', 'calls that the deployment does not have', [])
  .option('--brand <word>', 'as SERVICE_BRAND')
  .option('--orders-path <path>', 'as SERVICE_ORDERS_PATH')
  .option('--users-path <path>', 'as SERVICE_USERS_PATH')
  .option('--create-order-path <path>', 'as SERVICE_CREATE_ORDER_PATH')
  .addHelpText('after', '\nExit status 0: they agree. 1: they do not. 2: the file or an option cannot be used.')
  .parse()
  .opts<Given>();
try {
  const findings = await checkDescription(await readDescription(openapi), { config, without });
  print(findings);
  process.exitCode = findings.violations.length === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof DescriptionInvalid) && !(error instanceof TypeError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
