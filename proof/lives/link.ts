import { TypedSearchAttributes } from '@temporalio/common';
import { linkProviderId } from '../../protocol/ids.js';
import type { LinkResult, LinkState, LinkUrl } from '../../protocol/link/messages.js';
import { day, hour, minute, second } from './life.js';
import { Past, type Request, type ServiceAnswer } from './service.js';
import { claims, resultOf, webhook, type Stage, type World } from './stage.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

const userId = '00000000-0000-4000-8000-000000000001';
const provider = 'oura';
const workflowId = linkProviderId(userId, provider);
const tokenLife = 10 * minute;
/** The longest time from the moment that the last read before an end shows to that end: the answer may wait five minutes for a worker. */
const longestRead = 6 * minute;

interface Connection {
  at: number;
  /** By the token of a link, or by somebody else. */
  by: string;
}

/** A user who logs in at a provider, or does not; the provider's codes; and connections that are made elsewhere. */
export class LinkWorld implements World {
  readonly spans = { disturbed: 5 * day, calm: 10 * day };
  private readonly stage: Stage;
  private readonly state = { connections: [] as Connection[] };
  private readonly past: Past<LinkWorld['state']>;
  private readonly tokens = new Map<string, { at: number; isUsed: boolean }>();
  /** How often the provider got each code. */
  private readonly codes = new Map<string, number>();
  private readonly input: object;
  private typed = 0;

  constructor(stage: Stage) {
    const { life } = stage;
    this.stage = stage;
    this.past = new Past(life, this.state);
    const policy = resolvePolicy('link', {
      ...resolvePolicy('link'),
      ...{ passwordWait: life.span(30 * second, day), codeWait: life.span(30 * second, hour) },
      ...{ codeReminder: life.span(10 * second, 10 * minute), totalWait: life.span(5 * minute, 2 * day) },
      maxCodeAttempts: life.between(1, 3),
    });
    this.input = { userId, provider, policy };
  }

  handle({ method, path, headers, body }: Request): ServiceAnswer {
    const { life } = this.stage;
    if (method === 'GET') {
      const sources = this.past.seen(5 * second).connections.map(({ at }) => ({
        source: { slug: provider, name: 'Invented' },
        created_on: new Date(at).toISOString(),
      }));
      return { status: 200, body: { user_id: userId, connected_sources: sources } };
    }
    if (path === '/v2/link/token') {
      const token = `token-${this.tokens.size + 1}`;
      this.tokens.set(token, { at: life.now, isUsed: false });
      return { status: 200, body: { link_token: token, link_web_url: `https://link.invalid/${token}` } };
    }
    const { mfa_code: code = '' } = body as { mfa_code?: string };
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    return { status: 200, body: this.outcomeOf(headers['x-service-link-token'] ?? this.lastToken, 'code') };
  }

  private get lastToken(): string {
    return [...this.tokens.keys()].at(-1) ?? '';
  }

  /** What a login, or a code, comes to. */
  private outcomeOf(name: string, step: 'password' | 'code'): object {
    const { life } = this.stage;
    const token = this.tokens.get(name);
    const failed = (errorType: string) => ({ state: 'error', error_type: errorType, provider });
    if (!token) return failed('invalid_token');
    if (life.now > token.at + tokenLife) return failed('token_expired');
    if (token.isUsed) return failed('token_consumed');
    const kind = life.oneOf(['success', 'success', step === 'password' ? 'code' : 'wrong', 'wrong', 'odd']);
    if (kind === 'code') return { state: 'pending_provider_mfa', provider, provider_mfa: { method: 'sms' } };
    if (kind === 'wrong') return failed(step === 'code' ? 'incorrect_mfa_code' : 'provider_credential_error');
    if (kind === 'odd') return failed(life.oneOf(['provider_api_error', 'unheard_of']));
    token.isUsed = true;
    this.connect(name);
    return { state: 'success', provider };
  }

  private connect(by: string): void {
    const { life, server } = this.stage;
    this.state.connections.push({ at: life.now, by });
    this.past.changed(this.state);
    life.tell(`  the service: a connection by ${by}`);
    webhook(this.stage, 'the connection', () => server.signal(workflowId, 'connectionReported', undefined));
  }

  begin(): void {
    const { life, server } = this.stage;
    this.request();
    const soon = () => life.span(life.oneOf([second, 20 * second, minute]), life.oneOf([hour, day]));
    for (let count = life.between(1, 5); count > 0; count -= 1) life.after(soon(), () => this.step());
    if (life.happens(0.15)) life.after(soon(), () => this.connect('somebody else'));
    if (life.happens(0.05)) life.after(soon(), () => server.cancel(workflowId));
  }

  private request(): void {
    const start = {
      ...{ name: 'linkProvider', workflowId, args: [this.input] as [object] },
      typedSearchAttributes: new TypedSearchAttributes([]),
    };
    void this.stage.server.update(workflowId, 'requestLink', { newLink: this.input && {} }, start);
  }

  /** The user does something, and the product says so. */
  private step(): void {
    const { life, server } = this.stage;
    const what = life.oneOf(['login', 'login', 'code', 'code', 'twice', 'again', 'cancel']);
    if (what === 'again') return this.request();
    if (what === 'cancel') return void server.update(workflowId, 'cancel');
    if (what === 'login') return this.logIn();
    this.typed += 1;
    const code = { code: `code${this.typed}` };
    void server.update(workflowId, 'submitMfaCode', code);
    if (what === 'twice')
      life.after(life.span(10, minute), () => void server.update(workflowId, 'submitMfaCode', code));
  }

  private logIn(): void {
    const { life, server } = this.stage;
    const report = this.outcomeOf(this.lastToken, 'password');
    life.tell(`the user logs in: ${JSON.stringify(report)}`);
    // The browser may be closed before the product learns of it.
    if (life.happens(0.85))
      life.after(life.span(50, minute), () => void server.update(workflowId, 'reportLinkResult', report));
  }

  calmDown(): void {}

  check(): void {
    const { life, server, announced } = this.stage;
    for (const { name, value, repliedAt = 0 } of server.replies) {
      const { outcome, linkToken, expiresAt = '' } = (value ?? {}) as Partial<LinkState & LinkUrl>;
      if (name === 'cancel' && value !== undefined && outcome !== 'cancelled')
        life.broken(claims.reflected, `cancel, and the link is ${outcome ?? 'open'}`);
      if (linkToken !== undefined && Date.parse(expiresAt) <= repliedAt)
        life.broken(claims.reflected, 'requestLink, and the link cannot be used any more');
    }
    const submitted = server.replies.filter(({ name }) => name === 'submitMfaCode');
    for (const [code, times] of this.codes) {
      const asked = submitted.filter(({ argument }) => (argument as { code: string }).code === code).length;
      if (times > asked) life.broken('a code is handed on once', `${code} came ${times} times`);
    }
    for (const execution of server.executions) {
      const { closedAt = 0 } = execution;
      const { outcome, startedAt: began = '' } = resultOf<LinkResult>(execution);
      const known = this.state.connections.some(({ at }) => at <= closedAt);
      if (outcome === 'connected' && !known) life.broken(claims.endsAreTrue, 'connected without a connection');
      // An end states what was known when it was announced. A later login is refused, though the run stays open for its notifications.
      const end = announced.find(({ id }) => id === `${userId}/${provider}/${began}/ended`);
      const readAt = (end ? Date.parse(end.at) : closedAt) - longestRead;
      const made = this.state.connections.filter(({ at }) => at >= Date.parse(began) && at < readAt);
      // Without a token it made none of them.
      const hadToken = server.replies.some(({ name, value }) => name === 'requestLink' && value !== undefined);
      if (outcome === 'expired' && made.length > 0 && hadToken && server.executions.length === 1)
        life.broken(claims.endsAreTrue, 'expired, and the user is connected');
    }
  }
}
