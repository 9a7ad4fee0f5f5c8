import { settingsOf } from '../../workers/settings/config.js';
import { secretSettings } from '../../workers/settings/settings.js';

/** The settings that each program of `dist/` reads, by the end of the command that starts it. */
const settingsOfFile: Record<string, readonly string[]> = {
  'dist/workers/worker.js': settingsOf.worker,
  'dist/workers/ingress.js': settingsOf.ingress,
  'dist/workers/codec-server.js': settingsOf.codecServer,
  'dist/workers/single-process.js': settingsOf.singleProcess,
  migrate: settingsOf.migration,
};

/** Read by the SDK, like every setting of the connection to Temporal. */
const connectionSettings = ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'TEMPORAL_TLS'];

/** Those of the variables that the program does not read, for instance because their names are misspelt. */
export function unknownSettings(program: string, variables: readonly string[]): string[] {
  const settings = settingsOfFile[program];
  if (settings === undefined)
    throw new Error(`${program} is not a program of this project: name one in settingsOfFile`);
  return variables.filter((variable) => {
    const secret = variable.replace(/_FILE$/, '');
    if (secret !== variable && secretSettings.includes(secret))
      return !settings.includes(secret) && secret !== 'TEMPORAL_API_KEY';
    return !settings.includes(variable) && !connectionSettings.includes(variable);
  });
}
