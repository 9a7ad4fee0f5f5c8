/** The settings of the example, from the environment. */
export interface BackendConfig {
  port: number;
  service: { baseUrl: string; apiKey: string };
  notifySecrets: string[];
  /** The folder that is also the worker's REPORT_ROOT. */
  reportFolder: string;
  taskQueue: string;
}

export function readConfig(env: NodeJS.ProcessEnv = process.env): BackendConfig {
  return {
    port: Number(env['PORT'] ?? '4000'),
    service: { baseUrl: required(env, 'SERVICE_BASE_URL'), apiKey: required(env, 'SERVICE_API_KEY') },
    notifySecrets: [required(env, 'NOTIFY_SECRET')],
    reportFolder: required(env, 'REPORT_ROOT'),
    taskQueue: env['TASK_QUEUE'] ?? 'lab-operations',
  };
}

function required(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set. See examples/backend/README.md.`);
  return value;
}
