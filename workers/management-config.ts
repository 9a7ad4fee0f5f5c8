import type { z } from 'zod';
import type { ServiceConfig } from '../service/http.js';
import { keyFault, type KeyFault } from '../service/keys.js';
import type { workerSettings } from './settings.js';

/* The settings of the management API, and of the two kinds of keys. */

type WorkerSettings = z.output<z.ZodObject<typeof workerSettings>>;

export function managementConfig(settings: Partial<WorkerSettings>): Partial<ServiceConfig> {
  const { SERVICE_MANAGEMENT_KEY: managementKey, SERVICE_MANAGEMENT_URL: managementBaseUrl } = settings;
  const { SERVICE_TEAM_KEY_PREFIX: team, SERVICE_MANAGEMENT_KEY_PREFIX: management } = settings;
  return {
    ...(managementKey !== undefined && { managementKey }),
    ...(managementBaseUrl !== undefined && { managementBaseUrl }),
    ...((team ?? management) !== undefined && {
      keyPrefixes: { ...(team !== undefined && { team }), ...(management !== undefined && { management }) },
    }),
    ...(settings.SERVICE_DEPRECATED_MANAGEMENT_HEADER && { deprecatedManagementHeader: true }),
  };
}

const keySettings = {
  apiKey: 'SERVICE_API_KEY',
  managementKey: 'SERVICE_MANAGEMENT_KEY',
  keyPrefixes: 'SERVICE_MANAGEMENT_KEY_PREFIX',
} as const satisfies Record<KeyFault['key'], keyof WorkerSettings>;

/** A key in the other's place is reported at start, not by a refusal hours later. */
export function wrongKey(settings: Partial<WorkerSettings>): { setting: string; problem: string } | undefined {
  const { SERVICE_API_KEY: apiKey } = settings;
  const fault = apiKey === undefined ? undefined : keyFault({ apiKey, ...managementConfig(settings) });
  return fault && { setting: keySettings[fault.key], problem: fault.problem };
}
