import { z } from 'zod';

/* The kinds of values that fields and settings have. An error follows the name of the field or the setting. */

const text = z.string({ error: ({ input }) => (input === undefined ? 'is missing' : 'is not a text') });

export function word(pattern: RegExp, error: string) {
  return text.regex(pattern, { error });
}

export const webAddress = text.refine(isWebAddress, {
  error: 'is not an http or https address without credentials',
  abort: true,
});

export function isWebAddress(given: string): boolean {
  if (!URL.canParse(given)) return false;
  const { protocol, username, password } = new URL(given);
  return /^https?:$/.test(protocol) && username + password === '';
}

/** An address that paths are appended to. */
export const baseAddress = webAddress.refine((given) => !/[?#]/.test(given), { error: 'has a query or a fragment' });

export const path = word(/^\/[^?#\s{}]*$/, 'is not a path that begins with a slash');

/** The spellings of paths that the specification and deployments have. The first is the default. */
export const knownPaths = {
  ordersPath: ['/orders', '/v3/orders'],
  usersPath: ['/v2/user/', '/v2/user'],
  createOrderPath: ['/v3/order', '/v3/order/create'],
} as const;

/** The brand in the header names if the deployment has no other: the specification's. */
export const defaultBrand = 'service';

/** How a deployment of the lab service differs from the defaults; every field may be left out. */
export const serviceFields = {
  /** The word in `x-<brand>-api-key` and `x-<brand>-link-token`. */
  brand: word(/^[a-z0-9-]+$/i, 'is not one word of letters, digits and hyphens'),
  /** The path of the order list. */
  ordersPath: path,
  /** The path of the user list. */
  usersPath: path,
  /** The path of order creation. */
  createOrderPath: path,
  /** Base addresses by the names of their environments. */
  addresses: z.record(z.string(), baseAddress, { error: 'is not an object' }),
  /** The management API's address, if it has its own. */
  managementBaseUrl: baseAddress,
  /** False if orders do not show the `passthrough` that they were created with. */
  echoesPassthrough: z.boolean({ error: 'is neither true nor false' }),
  /** The size limit of a report's file, in bytes. */
  reportMaxBytes: z.int({ error: 'is not a whole number' }),
  /** The id of the team whose events are accepted. */
  teamId: word(/^[A-Za-z0-9._-]{1,128}$/, 'is not an id'),
  /** Calls of the client that the deployment does not have, such as `orders.import`. Only `npm run service-check` reads it. */
  missing: z.array(z.string({ error: 'is not a text' }), { error: 'is not a list' }),
};

/** The settings that take precedence over fields. */
export const settingOf = {
  brand: 'SERVICE_BRAND',
  ordersPath: 'SERVICE_ORDERS_PATH',
  usersPath: 'SERVICE_USERS_PATH',
  createOrderPath: 'SERVICE_CREATE_ORDER_PATH',
  managementBaseUrl: 'SERVICE_MANAGEMENT_URL',
  echoesPassthrough: 'SERVICE_ECHOES_PASSTHROUGH',
  reportMaxBytes: 'REPORT_MAX_BYTES',
  teamId: 'SERVICE_TEAM_ID',
} as const satisfies { [field in keyof typeof serviceFields]?: string };

/** The field that a setting takes precedence over. */
export function fieldOf(setting: string): keyof typeof settingOf | undefined {
  return Object.entries(settingOf).find(([, name]) => name === setting)?.[0] as keyof typeof settingOf | undefined;
}

const serviceDescriptionSchema = z
  .strictObject(serviceFields, {
    error: ({ code }) => (code === 'invalid_type' ? 'is not a JSON object' : undefined),
  })
  .partial();

/** The content of the file that SERVICE_DESCRIPTION names. */
export type ServiceDescription = z.output<typeof serviceDescriptionSchema>;

/** The description, or every fault of it, each a text that begins with the field. */
export function checkedDescription(given: unknown): ServiceDescription | string[] {
  const { data, error } = serviceDescriptionSchema.safeParse(given);
  return (
    data ??
    error?.issues.flatMap((issue) => {
      if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `${key} is not a field of a description`);
      return [`${issue.path.join('.') || 'its content'} ${issue.message}`];
    }) ??
    []
  );
}
