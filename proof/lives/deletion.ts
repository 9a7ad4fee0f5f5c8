import { TypedSearchAttributes } from '@temporalio/common';
import type { DeleteUserResult, DeletionState } from '../../protocol/deletion/messages.js';
import { deleteUserId } from '../../protocol/ids.js';
import { labPhaseKey, labUserIdKey } from '../../protocol/search-attributes.js';
import { day, hour, long, minute, second } from './life.js';
import { Past, type Request, type ServiceAnswer } from './service.js';
import { claims, resultOf, type Stage, type World } from './stage.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

/** Invented, as all ids here. */
const userId = '00000000-0000-4000-8000-000000000001';
const workflowId = deleteUserId(userId);

type Standing = 'present' | 'scheduled' | 'erased';

/** A user, the service's own grace of seven days, and what others do to the user meanwhile. */
export class DeletionWorld implements World {
  readonly spans = { disturbed: 15 * day, calm: 20 * day };
  private readonly stage: Stage;
  private user: Standing;
  private readonly first: Standing;
  private readonly past: Past<{ user: Standing }>;
  private readonly reads: number[] = [];
  private readonly done: { at: number; what: string; user: Standing }[] = [];
  private readonly grace: number;
  private readonly input: object;

  constructor(stage: Stage) {
    const { life } = stage;
    this.stage = stage;
    this.user = life.oneOf(['present', 'present', 'present', 'scheduled', 'erased'] as const);
    this.first = this.user;
    this.past = new Past(life, { user: this.user });
    const spans = [life.span(second, minute), life.span(minute, hour), life.span(hour, 7 * day)];
    this.grace = life.oneOf(spans);
    const reminderBefore = life.span(second, day);
    const policy = resolvePolicy('deletion', {
      ...resolvePolicy('deletion', { onRunningWork: 'leave' }),
      ...{ grace: this.grace, reminderBefore },
    });
    this.input = { userId, policy };
    if (this.user === 'scheduled') this.become('scheduled', 'at first');
  }

  private become(standing: Standing, by: string): void {
    const { life } = this.stage;
    this.user = standing;
    this.past.changed({ user: standing });
    this.done.push({ at: life.now, what: by, user: standing });
    if (standing !== 'scheduled') return;
    const { length } = this.done;
    life.after(7 * day, () => {
      if (this.user === 'scheduled' && this.done.length === length) this.become('erased', 'its own grace');
    });
  }

  handle({ method, path }: Request): ServiceAnswer {
    // Right after a deletion, or an undo, the service may show the user as before.
    if (method === 'GET') {
      this.reads.push(this.stage.life.now);
      return shown(this.past.seen(8 * second).user);
    }
    if (method === 'DELETE') {
      if (this.user !== 'present') return shown(this.user);
      this.become('scheduled', 'deletion');
      return { status: 200, body: { success: true } };
    }
    if (path !== '/v2/user/undo_delete') return { status: 404, body: { detail: 'Not Found' } };
    this.done.push({ at: this.stage.life.now, what: 'undo was asked for', user: this.user });
    if (this.user === 'erased') return shown(this.user);
    if (this.user === 'present') return { status: 400, body: { detail: 'This user is not scheduled' } };
    this.become('present', 'undo');
    return { status: 200, body: { success: true } };
  }

  begin(): void {
    const { life, server } = this.stage;
    life.tell(`the user is ${this.user}; the grace is ${long(this.grace)}`);
    this.ask('request');
    const soon = () => life.span(life.oneOf([20, second, this.grace / 4]), this.grace * 1.3 + minute);
    for (let count = life.between(0, 4); count > 0; count -= 1) {
      const name = life.oneOf(['undo', 'undo', 'request']);
      life.after(soon(), () => this.ask(name));
    }
    if (life.happens(0.15)) life.after(soon(), () => this.restoreElsewhere());
    if (life.happens(0.05)) life.after(soon(), () => server.cancel(workflowId));
  }

  private ask(name: string): void {
    const { server } = this.stage;
    const typedSearchAttributes = new TypedSearchAttributes([
      { key: labUserIdKey, value: userId },
      { key: labPhaseKey, value: 'requested' },
    ]);
    const start = { name: 'deleteUser', workflowId, args: [this.input] as [object], typedSearchAttributes };
    if (name === 'request') void server.update(workflowId, name, this.input, start);
    else void server.update(workflowId, name);
  }

  private restoreElsewhere(): void {
    if (this.user !== 'scheduled') return;
    this.stage.life.tell('somebody else restores the user');
    this.become('present', 'elsewhere');
  }

  calmDown(): void {}

  check(): void {
    this.checkUndos();
    this.checkEnd();
    this.checkRequests();
    this.checkOrder();
  }

  private checkUndos(): void {
    const { life, server } = this.stage;
    const isElsewhere = this.done.some(({ what }) => what === 'elsewhere');
    for (const { name, repliedAt = 0, askedAt, refused } of server.replies) {
      if (name !== 'undo' || refused !== undefined || isElsewhere) continue;
      const wasAsked = this.done.some(({ what, at }) => what.startsWith('undo') && at <= repliedAt);
      // As of the answer; a deletion that was on its way then counts, too.
      const standing = this.done.findLast(({ at }) => at <= repliedAt)?.user ?? this.first;
      const isSent = this.done.some(({ what, at }) => what === 'deletion' && at > askedAt && at <= repliedAt + minute);
      if (wasAsked || (standing === 'present' && !isSent)) continue;
      life.broken(
        'an acknowledged undo implies that the service was asked, or that the user had been read as present',
        `the service was never asked, and the user is ${standing}`,
      );
    }
  }

  private checkEnd(): void {
    const { life, server } = this.stage;
    const last = server.latest(workflowId);
    const { outcome, endedAt, undo } = resultOf<DeleteUserResult>(last);
    const ended = Date.parse(endedAt ?? '');
    // Final means that no undo was possible any more.
    for (const { run, closedAt = 0 } of server.executions) {
      const { outcome: end, graceUntil = '' } = resultOf<DeleteUserResult>({ run });
      if (end === 'deleted' && Date.parse(graceUntil) > closedAt)
        life.broken(claims.endsAreTrue, 'final before the end of the grace');
    }
    // A deletion that was announced as final stays final, even if somebody restores the user after that.
    const final = server.executions.find((each) => resultOf<DeleteUserResult>(each).outcome === 'deleted')?.closedAt;
    // An end is as old as the read that it goes by, whose answer may take minutes.
    const read = this.reads.findLast((at) => at <= ended) ?? ended;
    const from = Math.min(ended, final ?? ended, outcome === 'deleted' ? read : ended) - 10 * second;
    if (this.done.some(({ at, what }) => what === 'elsewhere' && at > from)) return;
    const isFailed = last?.status === 'FAILED';
    const isOurs = this.done.some(({ what, at }) => what === 'deletion' && at >= (last?.startedAt ?? 0));
    const isWrong =
      outcome === 'deleted'
        ? this.user === 'present'
        : this.user !== 'present' && (outcome === 'undone' || (isOurs && (isFailed || outcome === 'unknown_user')));
    const how = outcome === 'undone' ? `undone by ${undo?.by}` : (outcome ?? 'failed');
    if (isWrong) life.broken(claims.endsAreTrue, `${how}, and the user is ${this.user}`);
  }

  private checkRequests(): void {
    const { life, server, receiver } = this.stage;
    // An operator has ended it, and says so to nobody.
    if (server.hasCancelled) return;
    for (const { name, value, refused } of server.replies) {
      if (name !== 'request' || refused !== undefined) continue;
      const { phase, requestedAt } = value as DeletionState;
      const isSettled = receiver.got.some(
        ({ id, type }) => id.startsWith(`${userId}/${requestedAt}`) && /undone|deleted|failed/.test(type),
      );
      if (!['requested', 'grace', 'confirming'].includes(phase) || isSettled) continue;
      life.broken('an acknowledged request comes to an end that is announced', `${requestedAt} did not`);
    }
  }

  private checkOrder(): void {
    const { life, receiver } = this.stage;
    const ends = new Map<string, string>();
    for (const { id, type } of receiver.got) {
      if (!/user\.(?:deleted|deletion_undone|deletion_failed)$/.test(type)) continue;
      const request = id.split('/').slice(0, 2).join('/');
      const before = ends.get(request) ?? type;
      if (before !== type) life.broken('nothing that was announced goes back', `${before}, then ${type}`);
      ends.set(request, type);
    }
  }
}

function shown(user: Standing): ServiceAnswer {
  if (user === 'present') return { status: 200, body: { user_id: userId, connected_sources: [] } };
  const unknown = 'The user does not or no longer exists in this team';
  return {
    status: 404,
    body: { detail: user === 'scheduled' ? 'You have scheduled this user for deletion.' : unknown },
  };
}
