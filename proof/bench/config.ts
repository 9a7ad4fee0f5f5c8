/** Settings of the bare worker, which is a process of its own. */
export interface BareWorkerConfig {
  address: string;
  taskQueue: string;
  /** The file of its workflow bundle. */
  codePath: string;
  baseUrl: string;
  apiKey: string;
  encryptionKeys: string | undefined;
  maxCachedWorkflows: number;
}

export function bareWorkerConfig(env: Readonly<Record<string, string | undefined>> = process.env): BareWorkerConfig {
  const required = (name: string): string => {
    const value = env[name];
    if (value === undefined) throw new Error(`${name} is not set: start this process by \`npm run bench\``);
    return value;
  };
  return {
    address: required('TEMPORAL_ADDRESS'),
    taskQueue: required('TASK_QUEUE'),
    codePath: required('BARE_BUNDLE'),
    baseUrl: required('SERVICE_BASE_URL'),
    apiKey: required('SERVICE_API_KEY'),
    encryptionKeys: env['LABOPS_ENCRYPTION_KEYS'],
    maxCachedWorkflows: Number(env['MAX_CACHED_WORKFLOWS'] ?? 1000),
  };
}

/** Settings of the bare ingress. */
export function bareIngressConfig(env: Readonly<Record<string, string | undefined>> = process.env) {
  return { address: env['TEMPORAL_ADDRESS'] ?? 'localhost:7233', secret: env['WEBHOOK_SECRETS'] ?? '' };
}
