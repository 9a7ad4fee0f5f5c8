import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { clientEntries } from './client-entries.js';

/** The reports of the client's entries, by path: every type that an entry exports, as its users compile against it. */
export async function apiReports(projectFolder: string): Promise<[path: string, text: string][]> {
  const folder = await mkdtemp(join(tmpdir(), 'api-report-'));
  try {
    const tsc = join(projectFolder, 'node_modules/typescript/bin/tsc');
    const declarations = [
      '-p',
      join(projectFolder, 'client/tsconfig.json'),
      '--emitDeclarationOnly',
      // Each checker of several works out the same types again.
      '--checkers',
      '1',
      '--outDir',
      folder,
    ];
    await promisify(execFile)(process.execPath, [tsc, ...declarations]);
    await symlink(join(projectFolder, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), JSON.stringify({ name: '@lab-operations/client', type: 'module' }));
    const bases = await basesIn(folder);
    const reports: [string, string][] = [];
    const entries = await clientEntries(projectFolder);
    const files = entries.map(({ source }) => join(folder, `${source}.d.ts`));
    // Most of the time is the compiler's.
    const compilerState = CompilerState.create(configOf(folder, 'client/index.d.ts'), { additionalEntryPoints: files });
    for (const { importedAs, subpath, source } of entries) {
      extract(configOf(folder, `${source}.d.ts`), compilerState);
      const report = await readFile(join(folder, 'client.api.md'), 'utf8');
      const path = subpath === undefined ? 'client/api-report.md' : `client/api-report-${subpath}.md`;
      const named = report.replaceAll(/\w+_base\b/g, (base) => bases.get(base) ?? base);
      reports.push([path, named.replace('"@lab-operations/client"', `"${importedAs}"`)]);
    }
    return reports;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The bases that functions make for classes to extend, by the names that declarations give them: the report would not explain those. */
async function basesIn(folder: string): Promise<Map<string, string>> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.d.ts'));
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const declared = texts.flatMap((text) => [...text.matchAll(/const (\w+_base): ([^]*?);\n(?=[a-z/])/g)]);
  return new Map(
    declared.map(([, name = '', base = '']) => [
      name,
      base.replaceAll(/import\([^)]*\)\./g, '').replaceAll(/;?\s+/g, ' '),
    ]),
  );
}

function configOf(folder: string, entry: string): ExtractorConfig {
  const configObject = {
    projectFolder: folder,
    mainEntryPointFilePath: join(folder, entry),
    compiler: {
      overrideTsconfig: {
        compilerOptions: { target: 'es2023', lib: ['es2023'], module: 'nodenext', types: ['node'], skipLibCheck: true },
        files: [entry],
      },
    },
    apiReport: {
      enabled: true,
      reportFolder: folder,
      reportTempFolder: join(folder, 'temp'),
      reportFileName: 'client',
    },
    docModel: { enabled: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    messages: { extractorMessageReporting: { default: { logLevel: ExtractorLogLevel.None } } },
  };
  return ExtractorConfig.prepare({
    configObject,
    configObjectFullPath: undefined,
    packageJsonFullPath: join(folder, 'package.json'),
  });
}

function extract(config: ExtractorConfig, compilerState: CompilerState): void {
  const said: string[] = [];
  const { errorCount } = Extractor.invoke(config, {
    compilerState,
    localBuild: true,
    messageCallback: (message) => {
      said.push(message.text);
      message.handled = true;
    },
  });
  if (errorCount > 0) throw new Error(`API Extractor failed: ${said.join('; ')}`);
}
