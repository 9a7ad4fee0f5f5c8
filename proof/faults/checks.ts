import { readFile } from 'node:fs/promises';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { readPassthrough } from '../../protocol/order/root-order.js';
import { unsigned, defaultInstallation } from '../../service/installation.js';
import { personal } from '../../test/rig/cast.js';
import type { Notification } from '../../test/rig/notification-receiver.js';
import type { AtService, Ending } from './ending.js';
import { stories } from './plan.js';
import type { Stage } from './stage.js';
import type { Stored } from './health-data.js';

/** Each check returns what it found wrong, one sentence each. */

export function outcomesOf(endings: readonly Ending[]): string[] {
  return endings.flatMap(({ name, story, error, result }) => {
    if (error !== undefined) return [`${name} (${story}) broke off: ${error}`];
    const { outcome, order } = result as { outcome?: string; order?: { outcome?: string } };
    const actual = outcome ?? order?.outcome;
    const expected = stories[story]?.outcome;
    return actual === expected ? [] : [`${name} (${story}) ended as ${actual}, not as ${expected}`];
  });
}

/** Compares each subject's end with its end in the run without faults. */
export function differences(calm: readonly Ending[], faulty: readonly Ending[]): string[] {
  const byName = new Map(calm.map((ending) => [ending.name, ending]));
  return faulty.flatMap((ending) => {
    const other = byName.get(ending.name);
    if (!other || ending.error !== undefined || other.error !== undefined) return [];
    return (['answers', 'result', 'truth', 'notified'] as const).flatMap((field) => {
      const [expected, actual] = [JSON.stringify(other[field]), JSON.stringify(ending[field])];
      if (expected === actual) return [];
      return [
        `${ending.name} (${ending.story}): ${field} differs\n    without faults: ${expected}\n    with faults:    ${actual}`,
      ];
    });
  });
}

/** One kit per reference, and one for each of its replacements. */
export function kitsPerReference({ orders }: AtService): string[] {
  const counts = new Map<string, number>();
  for (const { passthrough } of orders) {
    const ours = readPassthrough(unsigned(passthrough, defaultInstallation));
    const key = ours && `${ours.reference}, number ${ours.n}`;
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count > 1).map(([key, count]) => `${count} kits were made for ${key}`);
}

/** A repeated id must say the same; two ends must not contradict; and a phase must be the one of the service's event. */
export function notificationsAgree(notifications: readonly Notification[], { orders }: AtService): string[] {
  const found: string[] = [];
  const byId = new Map<string, string>();
  const ends = new Map<string, string>();
  const statuses = new Map(
    orders.flatMap(({ order }) => order.events.map(({ id, status }) => [`${order.id}/${id}`, status])),
  );
  for (const { id, type, subject, data } of notifications) {
    const { portal_url: _url, portal_url_expires_in: _in, portal_url_refused: _refused, ...rest } = data;
    const content = JSON.stringify([type, subject, rest]);
    if ((byId.get(id) ?? content) !== content) found.push(`${id} was sent with ${byId.get(id)} and with ${content}`);
    byId.set(id, content);
    if (type.endsWith('ended')) {
      const about = `${type} of ${subject}`;
      const outcome = String(data['outcome']);
      if ((ends.get(about) ?? outcome) !== outcome)
        found.push(`${about} was sent as ${ends.get(about)} and as ${outcome}`);
      ends.set(about, outcome);
    }
    const event = /^(.+)\/phase_changed$/.exec(id)?.[1] ?? '';
    const status = statuses.get(event);
    if (status !== undefined && status !== data['status']) {
      found.push(`${id} says ${String(data['status'])}, but the service's event says ${status}`);
    }
  }
  return found;
}

/** A signal or an update came in while the workflow was ending: Temporal asks the worker again, as it is meant to. */
const { WorkflowTaskFailedCause: cause } = proto.temporal.api.enums.v1;
export const takesMessageFirst: readonly unknown[] = [
  cause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
  cause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_UPDATE,
];

/** Every workflow has completed, and none of its tasks has failed on the way. */
export async function workflowsOf(temporal: Client): Promise<{ found: string[]; workflows: number; events: number }> {
  const found: string[] = [];
  let [workflows, events] = [0, 0];
  for await (const { workflowId, runId, status } of temporal.workflow.list()) {
    workflows += 1;
    if (!['COMPLETED', 'CONTINUED_AS_NEW'].includes(status.name)) found.push(`${workflowId} is ${status.name}`);
    const history = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    events += history.events?.length ?? 0;
    for (const { workflowTaskFailedEventAttributes: failed } of history.events ?? []) {
      if (failed && !takesMessageFirst.includes(failed.cause))
        found.push(
          `a workflow task of ${workflowId} failed (cause ${String(failed.cause)}): ${failed.failure?.message ?? ''}`,
        );
    }
  }
  return { found, workflows, events };
}

/** More than any process here should ever need: a leak, or a buffer without a limit. */
const mostBytes = { worker: 700 * 2 ** 20, ingress: 350 * 2 ** 20 };

/** No process has ended by itself, none has used too much memory, and no log has a fault that nobody handled or a person. */
export async function processesOf(stage: Stage): Promise<string[]> {
  const found = Object.values(stage.parts).flatMap((part) => {
    const { name, deaths } = part;
    const limit = name.startsWith('worker')
      ? mostBytes.worker
      : name.startsWith('ingress')
        ? mostBytes.ingress
        : Infinity;
    const peak = part.peakBytes();
    const large = peak > limit ? [`${name} used ${Math.round(peak / 2 ** 20)} MiB`] : [];
    return [...deaths.map((death) => `${name} ended by itself: ${death}`), ...large];
  });
  const end = stage.sandboxEnd();
  if (end !== undefined) found.push(`the sandbox ended by itself: ${end}`);
  for (const [name, path] of Object.entries(stage.logs).filter(([name]) => name !== 'sandbox')) {
    const text = await readFile(path, 'utf8');
    const unhandled = /.*(?:unhandled|uncaught).*/i.exec(text)?.[0];
    if (unhandled !== undefined) found.push(`the log of ${name} has: ${unhandled}`);
    const person = /^.*$/gm
      [Symbol.match](text)
      ?.find((line) => personal.test(line.replaceAll(/20\d\d-\d\d-\d\d/g, '')));
    if (person !== undefined) found.push(`the log of ${name} has something personal: ${person}`);
  }
  return found;
}

/** What must be true in the end if a command was acknowledged, by the command's name. */
const effects: Record<string, (ending: Ending) => boolean> = {
  register: ({ truth }) => truth.orders.some(({ isRegistered }) => isRegistered),
  cancel: ({ truth }) => truth.orders.every(({ statuses }) => statuses.at(-1) === 'cancelled'),
  replace: ({ truth }) => truth.orders.length === 2,
  abandon: ({ result }) => (result as { outcome?: string }).outcome === 'abandoned',
  acknowledge: ({ result }) => JSON.stringify(result).includes('critical_result_acknowledged'),
  submit: ({ truth }) => truth.jobs.length === 1,
  undo: ({ truth }) => truth.deleted === 0,
  delete: ({ truth, answers }) =>
    answers.some(({ command }) => command === 'undo')
      ? truth.deleted === 0
      : truth.deleted === 1 && truth.health.every(isNothing),
};

/** Every acknowledged command that the service or the result does not show in the end. */
export function acknowledgedButLost(endings: readonly Ending[]): string[] {
  return endings.flatMap((ending) => {
    const { name, story, error, answers } = ending;
    if (error !== undefined) return [];
    const lost = answers.filter(({ command, answer }) => answer === 'done' && effects[command]?.(ending) === false);
    return lost.map(({ command }) => `${name} (${story}): "${command}" was acknowledged, and its effect is not there`);
  });
}

function isNothing(stored: Stored | undefined): boolean {
  return stored === undefined || stored.steps.length + stored.samples + stored.streams === 0;
}
