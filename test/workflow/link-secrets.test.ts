import { expect, test } from 'vitest';
import { UserLink, completeMfaPath } from './user-link.js';
import { eventsOf, textOf } from './recorded.js';
import { setStage } from './story.js';

/*
 * A link token, its page and a code are only where they must be: in the calls that make or use them, and in the updates
 * that request them. Encryption hides those; what is never encrypted, or is shown to operators, must have none of them.
 */

const stage = setStage();

type Event = Awaited<ReturnType<typeof eventsOf>>[number];

/** The activities and updates in which a secret may stand, and where in their events. */
const carriers = ['createLinkToken', 'completeMfa', 'requestLink', 'submitMfaCode'];

/** The events without the payloads of the calls and updates that carry secrets. */
function withoutCarried(events: readonly Event[]): { rest: unknown[]; names: Set<string> } {
  /** The names of calls by the ids of their events, and of updates by their own ids. */
  const begun = new Map<string, string>();
  const rest = events.map((event) => {
    const plain = JSON.parse(JSON.stringify(event)) as Record<string, unknown> & { eventId: string };
    for (const attributes of Object.values(plain) as Attributes[]) {
      const { activityType, acceptedRequest, scheduledEventId, meta, outcome } = attributes;
      const id = acceptedRequest?.meta.updateId ?? meta?.updateId ?? scheduledEventId ?? plain.eventId;
      const name = acceptedRequest?.input.name ?? activityType?.name;
      if (name !== undefined) begun.set(id, name);
      if (!carriers.includes(begun.get(id) ?? '')) continue;
      delete attributes.input;
      delete attributes.result;
      delete acceptedRequest?.input.args;
      delete outcome?.success;
    }
    return plain;
  });
  return { rest, names: new Set(begun.values()) };
}

/** The attributes of an event that are searched, whichever it has. */
interface Attributes {
  activityType?: { name: string };
  scheduledEventId?: string;
  acceptedRequest?: { meta: { updateId: string }; input: { name: string; args?: unknown } };
  meta?: { updateId: string };
  outcome?: { success?: unknown };
  input?: unknown;
  result?: unknown;
}

test('neither password nor token nor code is anywhere else than in the calls and updates that carry them', async () => {
  const link = await UserLink.start(stage, { redirectUrl: 'https://example.com/back' });
  const failures: unknown[] = [];
  const collect = (error: unknown) => void failures.push(error);
  const tokens = [await link.handle.linkUrl()];
  await link.logIn('error-token_expired');
  tokens.push(await link.handle.linkUrl());
  await link.logIn('mfa-sms');
  const codes = ['918273', '900422', '900500', '123456'];
  await link.handle.submitMfaCode('918273');
  await link.handle.submitMfaCode('900422').catch(collect);
  await link.handle.submitMfaCode('900500').catch(collect);
  // What the service says may quote anything.
  const quoted = { detail: `no code 918273 for ${tokens[1]?.linkToken} at ${tokens[1]?.linkWebUrl}` };
  const action = { kind: 'answer', status: 429, body: quoted } as const;
  await stage.sandbox.addFault({ path: completeMfaPath(), times: 1, action });
  await link.handle.submitMfaCode('918273').catch(collect);
  const details: unknown = await stage.temporal.workflow
    .getHandle(link.workflowId)
    .query<unknown>('__temporal_workflow_metadata');
  expect(JSON.stringify(details)).toContain('invented_watch');
  const state = await link.handle.state();
  await link.handle.submitMfaCode('123456');
  await link.handle.result();
  await link.expectNotifications('ended connected');

  const events = await eventsOf(stage, link.workflowId);
  const { rest, names } = withoutCarried(events);
  expect(names).toEqual(new Set([...carriers, 'reportLinkResult', 'findConnection', 'notify']));
  const { memo, typedSearchAttributes, staticDetails, staticSummary } = await stage.temporal.workflow
    .getHandle(link.workflowId)
    .describe();
  const seen = [
    ...[textOf(rest), JSON.stringify(details), JSON.stringify(state), JSON.stringify(link.notifications)],
    ...[JSON.stringify(memo), JSON.stringify(typedSearchAttributes), await staticSummary(), await staticDetails()],
    JSON.stringify(failures.map((error) => [error, (error as Error).message])),
  ].join('\n');
  for (const { linkToken, linkWebUrl } of tokens) {
    expect(textOf(events)).toContain(linkToken);
    expect(seen).not.toContain(linkToken);
    expect(seen).not.toContain(linkWebUrl);
  }
  expect(failures.length).toBe(2);
  // As a whole: six digits in a row may turn up in any id.
  for (const code of codes) expect(seen).not.toMatch(new RegExp(`\\b${code}\\b`));
  expect(textOf(events)).not.toContain('invented-password');
  expect(seen).not.toContain('mfa-sms');
});
