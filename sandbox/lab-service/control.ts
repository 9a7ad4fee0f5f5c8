import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { argumentsOf, command, refused, required, type Command } from './control-command.js';
import { appointmentCommands, orderCommands } from './control-orders.js';
import { matchReviewCommands, linkCommands, reportCommands, userCommands } from './control-users.js';
import { durationSchema } from './clock.js';
import { fits, httpFaultSchema, webhookFaultSchema, isControl } from './faults.js';
import type { Lab } from './lab.js';
import { pathText, refusal } from './validation.js';
import { settingsSchema, type Settings } from './settings.js';

/**
 * The control interface: what tests and the demo do to the outside world. `POST /_sandbox/<command>` takes the
 * arguments as a JSON list; a single one may stand without the list. It has no authentication, and no service has it.
 */
export function controlRoutes(app: FastifyInstance, lab: Lab): void {
  const commands: Readonly<Record<string, Command>> = controlCommands(lab);
  app.post('/_sandbox/:command', async (request, reply) => {
    const name = pathText(request, 'command');
    const { input, run } = required(Object.hasOwn(commands, name) ? commands[name] : undefined, `command ${name}`);
    const answer = await run(...argumentsOf(input, request.body));
    return reply.type('application/json').send(JSON.stringify(answer ?? null));
  });
}

export type Commands = ReturnType<typeof controlCommands>;

function controlCommands(lab: Lab) {
  return {
    /** Does nothing: its answer shows that the stand-in is there. */
    health: command(z.tuple([]), () => undefined),

    /** Starts over: no users, orders, faults, plans, logs; the wall clock's time; the settings of the start. */
    reset: command(z.tuple([]), () => lab.reset()),

    ...settingsCommands(lab),
    ...faultCommands(lab),
    ...webhookCommands(lab),
    ...requestCommands(lab),
    ...userCommands(lab),
    ...linkCommands(lab),
    ...orderCommands(lab),
    ...appointmentCommands(lab),
    ...reportCommands(lab),
    ...matchReviewCommands(lab),
  };
}

function settingsCommands(lab: Lab) {
  // Secrets are taken, never shown.
  const shownSettings = (): Omit<Settings, 'webhookSecrets'> => {
    const { webhookSecrets: _, ...rest } = lab.settings;
    return rest;
  };
  const shownClock = () => ({ now: new Date(lab.clock.now()).toISOString(), daySeconds: lab.clock.daySeconds });

  return {
    /** The settings in force, without secrets. */
    settings: command(z.tuple([]), shownSettings),

    /** Changes some settings at once; the others stay. `daySeconds` also changes the pace of what is under way. */
    changeSettings: command(z.tuple([z.custom<Partial<Settings>>((value) => typeof value === 'object')]), (changes) => {
      const parsed = settingsSchema.safeParse({ ...lab.settings, ...changes });
      if (!parsed.success) throw refused(z.prettifyError(parsed.error));
      lab.changeSettings(parsed.data);
      return shownSettings();
    }),

    /** The stand-in's time. */
    clock: command(z.tuple([]), shownClock),

    /**
     * Sets the stand-in's time, which then runs on with the wall clock. Everything that falls due on the way forward
     * happens, in order and each at its own time.
     */
    setClock: command(z.tuple([z.union([z.date(), z.iso.datetime({ offset: true })])]), (time) => {
      lab.clock.setTo(new Date(time).getTime());
      return shownClock();
    }),

    /** Goes forward by a span of the stand-in's own time, which is not compressed: with a day of 2 s, 2 s are a day. */
    advanceClock: command(z.tuple([durationSchema]), (span) => {
      lab.clock.advance(span);
      return shownClock();
    }),
  };
}

function faultCommands(lab: Lab) {
  const faultId = z.string().optional();
  return {
    /** Makes requests fail. Returns the fault's id. */
    addFault: command(z.tuple([httpFaultSchema]), (fault) => lab.faults.add(fault)),

    /** Removes one fault, or all. One that has met its last request is gone already; that is no error. */
    removeFaults: command(z.tuple([faultId]), (id?) => lab.faults.remove(id)),

    /** Makes webhooks arrive twice, late, in another order, damaged or never. Returns the fault's id. */
    addWebhookFault: command(z.tuple([webhookFaultSchema]), (fault) => lab.webhooks.faults.add(fault)),

    /** Removes one webhook fault, or all. What was held stays held until it is released. */
    removeWebhookFaults: command(z.tuple([faultId]), (id?) => lab.webhooks.faults.remove(id)),

    /** Removes the endpoints that were made through the management API, of all teams. */
    removeEndpoints: command(z.tuple([]), () => lab.endpoints.removeAll()),
  };
}

const deliveryFilterSchema = z.strictObject({
  order_id: z.string().optional(),
  job_id: z.string().optional(),
  event_type: z.string().optional(),
  state: z.enum(['waiting', 'held', 'delivered', 'failed', 'lost', 'endpoint_disabled']).optional(),
});

function webhookCommands(lab: Lab) {
  return {
    /** The messages so far, in order, with their attempts and the receiver's answers. */
    deliveries: command(z.tuple([deliveryFilterSchema.prefault({})]), (filter) =>
      lab.webhooks.deliveries().filter((delivery) => fits(delivery, filter)),
    ),

    /** Sends what was held, one after the other. Resolves, with their number, when each has had its first attempt. */
    releaseWebhooks: command(z.tuple([z.enum(['kept', 'reversed']).default('kept')]), (order) =>
      lab.webhooks.release(order),
    ),

    /** Resolves when no webhook is on its way; retries may still be planned. */
    settleWebhooks: command(z.tuple([]), () => lab.webhooks.settle()),
  };
}

const requestFilterSchema = z.strictObject({
  method: z.string().toUpperCase().optional(),
  /** The whole path. */
  path: z.string().optional(),
  status: z.number().optional(),
});

function requestCommands(lab: Lab) {
  return {
    /** The requests that reached the service (not this interface), in order. */
    requests: command(z.tuple([requestFilterSchema.prefault({})]), (filter) =>
      lab.requests.entries().filter((entry) => fits(entry, filter)),
    ),

    /** Forgets the requests so far. */
    clearRequests: command(z.tuple([]), () => lab.requests.clear()),
  };
}

/**
 * The control interface has no key, so no web page may reach it: neither one of another origin, nor one whose host name was
 * made to lead here. Programs send no origin; they call this machine, an address, or a name of the containers' network.
 */
export function refuseWebPages(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    if (!isControl(request)) return;
    const { host = '', origin } = request.headers;
    if (!isNear(host)) throw refusal(403, 'The control interface answers only under a name of this machine or network');
    if (origin !== undefined && !isSameHost(origin, host)) {
      throw refusal(403, 'The control interface does not answer pages of another origin');
    }
  });
}

function isNear(host: string): boolean {
  if (!URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  return hostname.endsWith('.localhost') || /^([a-z0-9_-]+|\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/.test(hostname);
}

function isSameHost(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host;
}
