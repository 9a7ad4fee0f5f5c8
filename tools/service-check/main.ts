import { commandLine } from '../command-line.js';
import { DescriptionInvalid } from './description.js';
import { type Given, serviceCheck } from './service-check.js';

const given = commandLine(
  'service-check',
  'Derives how a deployment differs from its OpenAPI description, and compares what the client sends and reads with it.',
)
  .requiredOption('--openapi <file>', 'the OpenAPI description, 3.0 or 3.1, JSON or YAML')
  .option('--description <file>', 'the file of SERVICE_DESCRIPTION: its fields take precedence over what is derived')
  .option('--write-description <file>', 'writes that file; what is not described becomes `missing`')
  .addHelpText('after', '\nExit status 0: they agree. 1: they do not. 2: a file or an option cannot be used.')
  .parse()
  .opts<Given>();
try {
  process.exitCode = (await serviceCheck(given, console.log)) ? 0 : 1;
} catch (error) {
  if (!(error instanceof DescriptionInvalid)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
