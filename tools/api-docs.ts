import { register } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clientEntries } from './client-entries.js';

/* Writes the HTML reference of the client's package to build/api-docs, or to the folder that is given: `npm run api-docs`. */

declare module 'typedoc' {
  /** The plugin's option. */
  interface TypeDocOptionMap {
    internalModule: string;
  }
}

const projectFolder = fileURLToPath(new URL('..', import.meta.url));
const [out = join(projectFolder, 'build/api-docs')] = process.argv.slice(2);

// TypeDoc needs the compiler's interface for programs, which TypeScript 7 does not have.
const hook = `export const resolve = (name, context, next) => next(name === 'typescript' ? 'typescript-api' : name, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
const { Application } = await import('typedoc');

const entries = await clientEntries(projectFolder);
const app = await Application.bootstrapWithPlugins({
  name: '@lab-operations/client',
  entryPoints: entries.map(({ source }) => join(projectFolder, `${source}.ts`)),
  tsconfig: join(projectFolder, 'client/tsconfig.json'),
  readme: join(projectFolder, 'client/README.md'),
  // Types that the package does not export, but whose fields a backend reads.
  plugin: ['typedoc-plugin-missing-exports'],
  internalModule: 'types that are not exported',
  excludeExternals: true,
  excludePrivate: true,
  disableSources: true,
  // `npm run check:types` has checked them.
  skipErrorChecking: true,
  out,
});
const project = await app.convert();
if (project) {
  for (const module of project.children ?? []) {
    const entry = entries.find(({ source }) => source.replace(/\/index$/, '') === module.name);
    module.name = entry?.importedAs ?? module.name;
  }
  app.validate(project);
  await app.generateOutputs(project);
}
// A link that leads nowhere, or a name that does not exist, is a warning.
if (!project || app.logger.hasErrors() || app.logger.hasWarnings()) process.exitCode = 1;
