import { join } from 'node:path';
import ts from 'typescript-api';
import { projectFolder } from './processes.js';

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
}

/** The module with the types of an API group's version. */
const typesOf: Record<string, string> = {
  v1: 'kubernetes-types/core/v1.js',
  'apps/v1': 'kubernetes-types/apps/v1.js',
  'batch/v1': 'kubernetes-types/batch/v1.js',
  'policy/v1': 'kubernetes-types/policy/v1.js',
  'networking.k8s.io/v1': 'kubernetes-types/networking/v1.js',
  'temporal.io/v1alpha1': './custom-resources.js',
  'monitoring.coreos.com/v1': './custom-resources.js',
  'keda.sh/v1alpha1': './custom-resources.js',
};

/**
 * Checks manifests against the types of the Kubernetes API: a field that is unknown, missing or of another type is a
 * fault. It works offline, because the compiler reads each manifest as a literal.
 */
export function manifestFaults(manifests: readonly Manifest[]): string[] {
  const path = join(projectFolder, 'test/rig/manifests-as-literals.ts');
  const source = ts.createSourceFile(path, manifests.map(literalOf).join('\n'), ts.ScriptTarget.ES2023, true);
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    types: [],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...rest) => (name === path ? source : read(name, ...rest));
  const program = ts.createProgram({ rootNames: [path], options, host });
  return ts.getPreEmitDiagnostics(program, source).map(({ messageText, start = 0 }) => {
    const line = source.getLineAndCharacterOfPosition(start).line;
    const where = source.text.split('\n')[line]?.trim();
    return `${where}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

function literalOf(manifest: Manifest, index: number): string {
  const { apiVersion, kind } = manifest;
  const types = typesOf[apiVersion];
  if (types === undefined) throw new Error(`no types are known for ${apiVersion}: name their module in typesOf`);
  const literal = JSON.stringify(manifest, undefined, 1);
  return `import type { ${kind} as Type${index} } from '${types}';\nexport const manifest${index}: Type${index} = ${literal};`;
}
