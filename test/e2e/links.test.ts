import { expect, test } from 'vitest';
import { errors } from '../../client/index.js';
import { linkProviderId } from '../../protocol/ids.js';
import {
  codesSent,
  completeMfaPath,
  provider,
  rightCode,
  startLink,
  workflowOf,
  wrongCode,
  type LinkedUser,
} from './linked-user.js';
import { patience, stack } from './stack.js';

/** Readable, so that what the Web UI shows can be searched for secrets. */
const lab = stack({ keys: '' });

test('a link is carried from its token to the connection, and the product is notified of the end', async () => {
  const user = await startLink(lab);
  const phases: string[] = [];
  const watching = (async () => {
    for await (const { phase } of user.handle.watch({ minInterval: '100ms', maxInterval: '100ms' })) phases.push(phase);
  })();
  await expect.poll(() => phases, patience).toEqual(['awaiting_password']);
  expect(await user.logIn('mfa-sms')).toMatchObject({
    phase: 'awaiting_code',
    mfa: { method: 'sms', hint: '***-***-**23' },
    codeAttemptsLeft: 3,
  });
  await expect.poll(() => phases.at(-1), patience).toBe('awaiting_code');
  await expect(user.submit(' ')).rejects.toThrow(errors.InvalidCode);
  expect(await user.submit(wrongCode)).toMatchObject({ outcome: 'wrong_code', attemptsLeft: 2 });
  expect(await user.submit('123456')).toMatchObject({ outcome: 'connected', state: { phase: 'connected' } });

  const result = await user.handle.result();
  expect(result).toMatchObject({ outcome: 'connected', userId: user.userId, provider });
  expect(Date.parse(result.connectedAt ?? '')).toBeGreaterThan(Date.parse(result.startedAt) - 60_000);
  await watching;
  expect(phases.at(-1)).toBe('connected');
  expect(await codesSent(lab)).toBe(2);
  const id = `${user.userId}/${provider}/${result.startedAt}/ended`;
  const data = { user_id: user.userId, provider, outcome: 'connected' };
  expect(lab.receiver.aboutLinksOf(user.userId)).toMatchObject([{ id, type: 'link.ended', data }]);
  expect(await user.submit(rightCode), 'sent again after the end').toMatchObject({ outcome: 'connected' });
  expect(await codesSent(lab)).toBe(2);
  await expect(lab.labs.links.getHandle({ userId: user.userId, provider: 'invented_band' })).rejects.toThrow(
    errors.LinkNotFound,
  );
});

test('an unreported connection is known from its webhook, and one of an older connection ends nothing', async () => {
  const user = await startLink(lab, { confirmationWait: '1s' });
  await lab.sandbox.connect(user.userId, { provider });
  const timeline = async () => (await user.handle.state()).timeline.map(({ what }) => what);
  await expect.poll(timeline, patience).toContain('no new connection at the service');
  expect(await user.handle.state()).toMatchObject({ phase: 'awaiting_password' });
  await user.enterPassword('ok');
  expect(await user.handle.result()).toMatchObject({ outcome: 'connected' });
  expect(await timeline()).toContain('connection reported by webhook');
  expect(lab.ingress.output()).toContain(`"workflowId":"${linkProviderId(user.userId, provider)}"`);
});

/** A number of six digits may turn up within a longer one: in a time, in an id. */
function isIn(text: string, secret: string): boolean {
  const literal = secret.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
  return new RegExp(`(?<![\\w.])${literal}(?!\\w)`).test(text);
}

/** Everything that goes wrong on the way to a connection, with services that quote what they were sent. */
async function stumblingUser(): Promise<LinkedUser> {
  const user = await startLink(lab);
  await expect(user.enterPassword('detail-testperson'), 'quoted by the service').rejects.toThrow(errors.ServiceRefused);
  expect(await user.logIn('nobody-testperson')).toMatchObject({ consequence: 'ask_credentials_again' });
  await user.logIn('mfa-sms-testperson');
  expect(await user.submit(wrongCode)).toMatchObject({ outcome: 'wrong_code' });
  await expect(user.submit('900422'), 'quoted by the service').rejects.toThrow(errors.LinkRefused);
  const quoting = `cannot use ${rightCode} with ${(await user.handle.url()).linkToken}`;
  for (const status of [200, 500]) {
    await lab.sandbox.addFault({ path: completeMfaPath, times: 1, action: { kind: 'answer', status, body: quoting } });
    expect(await user.submit(rightCode)).toMatchObject({ outcome: 'unknown' });
  }
  await lab.sandbox.addFault({ path: completeMfaPath, times: 1, action: { kind: 'refuse' } });
  expect(await user.submit(rightCode)).toMatchObject({ outcome: 'unknown' });
  expect(await user.submit(rightCode)).toMatchObject({ outcome: 'connected' });
  expect(await user.handle.result()).toMatchObject({ outcome: 'connected' });
  return user;
}

async function refusedUser(): Promise<LinkedUser> {
  const user = await startLink(lab);
  await user.logIn('mfa-email-testperson');
  await expect(user.submit('900008')).rejects.toThrow(errors.LinkFailed);
  await user.handle.result();
  return user;
}

async function absentUser(): Promise<LinkedUser> {
  const user = await startLink(lab, { codeReminder: '1s', codeWait: '3s' });
  await user.logIn('mfa-email-testperson');
  expect(await user.handle.result()).toMatchObject({ outcome: 'expired', waitedFor: 'code' });
  return user;
}

/** The calls that make a token or use a code; encryption hides what they carry. */
const carriers = ['createLinkToken', 'completeMfa'];

/** The texts that the Web UI shows beside the payloads, those of failures, and the arguments of all other calls. */
async function shownBy(user: LinkedUser): Promise<string> {
  const workflow = workflowOf(lab, user);
  const { workflowId, typedSearchAttributes, memo, raw } = await workflow.describe();
  const metadata = await workflow.query('__temporal_workflow_metadata');
  const { events } = await workflow.fetchHistory();
  const parts: unknown[] = [];
  const decoded = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value, (key, each: unknown) =>
        key === 'data' && typeof each === 'string' ? Buffer.from(each, 'base64').toString('utf8') : each,
      ),
    );
  JSON.stringify(events, (key, value: unknown) => {
    if (key === 'userMetadata' || key === 'failure') parts.push(decoded(value));
    return value;
  });
  expect(JSON.stringify(decoded(events)), 'no password enters Temporal').not.toMatch(/invented-password-of-/);
  for (const { activityTaskScheduledEventAttributes: call } of events ?? [])
    if (!carriers.includes(call?.activityType?.name ?? '')) parts.push(decoded(call?.input ?? null));
  const configured = decoded(raw.executionConfig?.userMetadata ?? null);
  return JSON.stringify([workflowId, typedSearchAttributes.getAll(), memo, metadata, configured, parts]);
}

test('token, URL, code, hint, user name and password are in no log, ID, search attribute, summary, failure or notification, and in no call but those that need them', async () => {
  const users = await Promise.all([refusedUser(), absentUser()]);
  users.push(await stumblingUser());
  const connected = linkProviderId(users.at(-1)?.userId ?? '', provider);
  const lines = () => lab.ingress.output().split('\n');
  const isConnection = (line: string) => line.includes('provider.connection.created') && line.includes(connected);
  await expect.poll(() => lines().some(isConnection), patience).toBe(true);
  const logs = {
    worker: lab.worker.output(),
    ingress: lab.ingress.output(),
    sandbox: lab.sandboxOutput + JSON.stringify(await lab.sandbox.requests()),
  };
  expect(logs.worker, 'debug').toMatch(/"level":"debug"/);
  expect(logs.worker).toContain('LinkRefused');
  expect(logs.sandbox).toContain(completeMfaPath);
  for (const user of users) {
    const shown = await shownBy(user);
    // The last one is only in what a call was given.
    for (const page of ['### ', 'Link with invented_watch', 'link to invented_watch', 'code reminder', 'link.ended']) {
      expect(shown).toContain(page);
    }
    const notified = JSON.stringify(lab.receiver.aboutLinksOf(user.userId));
    expect(notified).toContain('link.ended');
    expect(user.secrets.length).toBeGreaterThan(4);
    for (const secret of user.secrets) {
      for (const [where, text] of Object.entries({ ...logs, shown, notified })) {
        expect(isIn(text, secret), `${secret} in ${where}`).toBe(false);
      }
    }
    const exported = [];
    for await (const work of lab.labs.users.export(user.userId)) exported.push(work);
    expect(JSON.stringify(exported)).toContain('reportLinkResult');
    // A hint is the person's own data.
    for (const secret of user.secrets.filter((each) => !user.hints.includes(each)))
      expect(isIn(JSON.stringify(exported), secret), `${secret} in the export`).toBe(false);
  }
  expect(await codesSent(lab)).toBeGreaterThan(6);
});
