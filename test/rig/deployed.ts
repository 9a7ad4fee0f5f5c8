import {
  codecServerSettings,
  ingressSettings,
  secretSettings,
  singleProcessSettings,
  workerSettings,
} from '../../workers/settings.js';

/** The settings that each program of `dist/` reads, by the file that starts it. */
const settingsOf: Record<string, object> = {
  'dist/workers/worker.js': workerSettings,
  'dist/workers/ingress.js': ingressSettings,
  'dist/workers/codec-server.js': codecServerSettings,
  'dist/workers/single-process.js': singleProcessSettings,
};

/** Read by the SDK, like every setting of the connection to Temporal. */
const connectionSettings = ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE'];

/** Those of the variables that the program does not read, for instance because their names are misspelt. */
export function unknownSettings(program: string, variables: readonly string[]): string[] {
  const settings = settingsOf[program];
  if (settings === undefined) throw new Error(`${program} is not a program of this project: name one in settingsOf`);
  const secrets: readonly string[] = secretSettings;
  return variables.filter((variable) => {
    const secret = variable.replace(/_FILE$/, '');
    if (secret !== variable && secrets.includes(secret)) return !(secret in settings) && secret !== 'TEMPORAL_API_KEY';
    return !(variable in settings) && !connectionSettings.includes(variable);
  });
}
