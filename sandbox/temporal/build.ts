import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TemporalConfig } from './config.js';
import { findProgram, run } from './programs.js';

/** The newest tag whose module `go install` accepts: later ones carry a `replace` directive. */
export const cliVersion = '1.5.1';
export const cliModule = `github.com/temporalio/cli/cmd/temporal@v${cliVersion}`;
export const testServerVersion = '1.38.0';

/** The Go version that the module requires. An older Go fetches a newer one by itself, unless that is turned off. */
export const goVersion = '1.25';

/** Puts the program of a Go module into the folder, built from source. For `temporal` that takes two to four minutes on two cores. */
export async function goInstall(module: string, folder: string, config: TemporalConfig): Promise<void> {
  const go = await required('go', config);
  const environment = { ...config.environment, GOBIN: folder, GOFLAGS: '-mod=mod' };
  await run(go, ['install', module], { environment, cwd: folder });
}

/** Puts the test server's jars (38 MB) and a script that starts it at `target`. */
export async function mavenCopy(target: string, config: TemporalConfig): Promise<void> {
  const maven = await required('mvn', config);
  await required('java', config);
  const folder = join(target, '..');
  const project = join(folder, 'project');
  await mkdir(project);
  await writeFile(join(project, 'pom.xml'), pom);
  const copy = [
    '-B',
    '-q',
    'dependency:copy-dependencies',
    '-DincludeScope=runtime',
    `-DoutputDirectory=${folder}/lib`,
  ];
  await run(maven, copy, { environment: config.environment, cwd: project });
  await rm(project, { recursive: true });
  await writeFile(target, startScript);
  await chmod(target, 0o755);
}

async function required(name: string, config: TemporalConfig): Promise<string> {
  const path = await findProgram(name, config.searchPath);
  if (path === undefined) throw new Error(`there is no \`${name}\` on PATH`);
  return path;
}

/** slf4j-nop: without it every start prints three lines that there is no logger. */
const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId>
  <artifactId>temporal-test-server</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>io.temporal</groupId>
      <artifactId>temporal-test-server</artifactId>
      <version>${testServerVersion}</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-nop</artifactId>
      <version>1.7.36</version>
    </dependency>
  </dependencies>
</project>
`;

/**
 * Takes a port. A short life in a test: so a small heap, the collector that starts fastest and only the quick compiler.
 * It must \`exec\`, because the SDK ends the process that it started and no other.
 */
const startScript = `#!/bin/sh
exec java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto \\
  -cp "$(dirname "$0")/lib/*" io.temporal.testserver.TestServer "$@"
`;
