import { secretSettings, settings } from './settings.js';

/*
 * A misspelt setting has no effect and breaks no rule, so nothing else would mention it. A variable of another program
 * must not be reported: only a name that is ours for certain, or that is almost a setting which is not set.
 */

/** The settings that only `labops` reads. */
const commandLineSettings = [
  'LABOPS_ORG_ID',
  'LABOPS_TEAM_ID',
  'LABOPS_ENVIRONMENT',
  'LABOPS_ACTOR',
  'LABOPS_READS_FILE',
];

/** Temporal's own, which its SDK reads. */
const temporalSettings = [
  ...['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'TEMPORAL_TLS', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'],
  ...['TEMPORAL_TLS_CLIENT_CERT_PATH', 'TEMPORAL_TLS_CLIENT_CERT_DATA', 'TEMPORAL_TLS_CLIENT_KEY_PATH'],
  ...['TEMPORAL_TLS_CLIENT_KEY_DATA', 'TEMPORAL_TLS_SERVER_CA_CERT_PATH', 'TEMPORAL_TLS_SERVER_CA_CERT_DATA'],
  ...['TEMPORAL_TLS_SERVER_NAME', 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'],
  ...['TEMPORAL_CODEC_ENDPOINT', 'TEMPORAL_CODEC_AUTH'],
];

/** Settings of the demo, the sandbox and the tests. */
const otherProgramsSettings = ['TEMPORAL_CLI', 'TEMPORAL_TEST_SERVER'];

const known = new Set([
  ...Object.keys(settings),
  ...secretSettings.flatMap((name) => [name, `${name}_FILE`]),
  ...commandLineSettings,
  ...temporalSettings,
  ...otherProgramsSettings,
]);

/** systemd's, which differs from NOTIFY_SECRET in two letters. */
const foreign = new Set(['NOTIFY_SOCKET']);

const ours = /^LABOPS_/;

/** The variables that Kubernetes sets in each container for a Service, which may have our name. */
const ofKubernetes = /_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP).*)?)$/;

/** With more edits it is another word, and so is anything near a short name. */
const mostEdits = 2;
const shortestName = 8;

/**
 * Sentences about variables that look like a misspelt setting. They name no value.
 * @param given the environment without blank values
 */
export function misspeltSettings(given: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(given).flatMap((name) => {
    if (known.has(name) || foreign.has(name) || ofKubernetes.test(name)) return [];
    const near = nearestTo(name, (setting) => given[setting] === undefined);
    if (near !== undefined) return [`${name} is not a setting: did you mean ${near}?`];
    return ours.test(name) ? [`${name} is not a setting: docs/settings.md lists them.`] : [];
  });
}

function nearestTo(name: string, isFree: (setting: string) => boolean): string | undefined {
  if (name.length < shortestName) return undefined;
  const near = [...known]
    .filter((setting) => Math.abs(setting.length - name.length) <= mostEdits)
    .filter((setting) => setting.length >= shortestName && isFree(setting))
    .map((setting) => ({ setting, edits: editsBetween(name.toUpperCase(), setting) }))
    .filter(({ edits }) => edits <= mostEdits);
  return near.toSorted((one, other) => one.edits - other.edits)[0]?.setting;
}

/** Levenshtein's distance: how many letters are inserted, left out or replaced. */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [column, wanted] of [...other].entries()) {
      const replaced = (row[column] ?? 0) + (letter === wanted ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
