import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The folders of deploy/kubernetes/ that can be applied. Each is rendered to `rendered/<name>.yaml`. */
export const overlays = ['base', 'worker-deployment', 'service-monitor', 'migration'] as const;

export type Overlay = (typeof overlays)[number];

const kubernetes = 'deploy/kubernetes';

/** Either brings Kustomize along. */
const renderers = [
  ['kustomize', 'build'],
  ['kubectl', 'kustomize'],
] as const;

/** The path of an overlay's rendered file, from the project's folder. */
export function renderedPath(overlay: Overlay): string {
  return `${kubernetes}/rendered/${overlay}.yaml`;
}

/** The first line of an overlay's rendered file. It names the state of the sources, so a stale file is found without Kustomize. */
export async function headerOf(folder: string, overlay: Overlay): Promise<string> {
  const hash = createHash('sha256');
  for (const source of new Set(['base', overlay])) {
    const entries = await readdir(join(folder, kubernetes, source));
    for (const name of entries.toSorted()) {
      hash.update(`${source}/${name}\0`).update(await readFile(join(folder, kubernetes, source, name)));
    }
  }
  return `# Written by \`npm run manifests\` from ${kubernetes}/${overlay}, sources ${hash.digest('hex').slice(0, 16)}: edit those.\n`;
}

/** Renders an overlay; undefined if there is neither `kustomize` nor `kubectl`. */
export async function rendered(folder: string, overlay: Overlay): Promise<string | undefined> {
  for (const [program, command] of renderers) {
    try {
      const { stdout } = await promisify(execFile)(program, [command, join(folder, kubernetes, overlay)]);
      return stdout;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return undefined;
}

/** The alerts for the Prometheus operator, and the file that they come from. */
export const prometheusRulePath = `${kubernetes}/service-monitor/prometheus-rule.yaml`;
const rulesPath = 'deploy/prometheus-rules.yml';

/** The alerts as the operator's resource, word for word: there is one source of them. */
export async function prometheusRule(folder: string): Promise<string> {
  const rules = await readFile(join(folder, rulesPath), 'utf8');
  const indented = rules.slice(rules.indexOf('groups:')).replaceAll(/^(?=.)/gm, '  ');
  return `# Written by \`npm run manifests\` from ${rulesPath}: edit that.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: lab-operations
spec:
${indented}`;
}
