import { Command, InvalidArgumentError } from 'commander';

/**
 * The command line of a proof or a tool: --help describes it, and what it does not know ends it with status 2, for status 1 says
 * that something does not hold.
 */
export function commandLine(name: string, description: string): Command {
  return new Command(`npm run ${name} --`)
    .description(description)
    .showHelpAfterError()
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
}

export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of 0 or more.');
}

export function positiveWholeNumber(text: string): number {
  const number = wholeNumber(text);
  if (number > 0) return number;
  throw new InvalidArgumentError('It must be a whole number above 0.');
}
