import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { LabOperations } from '../../client/index.js';
import { form, type Field } from './forms.js';
import { html, show } from './html.js';
import { carryOut, FieldProblem, type Problem } from './problems.js';

/** An answer that is not a page: what was asked for does not exist for this user. */
export class NotYours extends Error {
  readonly statusCode = 404;
}

/** Nobody is signed in who may see the page. */
export class SignedOut extends Error {
  readonly signInPage: string;

  constructor(signInPage: string) {
    super('Nobody is signed in');
    this.signInPage = signInPage;
  }
}

/** `userId` is the lab service's id, which your backend keeps with the account. */
type Session = { userId: string } | { isStaff: true };

/** In your backend: your own sessions. These end with the process. */
const sessions = new Map<string, Session>();

/**
 * The user of each account. In your backend: a column of your own. The service does not find a user whose deletion can still be
 * undone by the account, and would make a second one, after which the first cannot be restored.
 */
const users = new Map<string, string>();

function sessionOf({ headers }: FastifyRequest): Session | undefined {
  const [, id = ''] = /(?:^|; )session=([0-9a-f-]{36})(?:;|$)/.exec(headers.cookie ?? '') ?? [];
  return sessions.get(id);
}

/** Other sites cannot post with this cookie (SameSite), and scripts cannot read it. */
function begin(reply: FastifyReply, session: Session): void {
  const id = randomUUID();
  sessions.set(id, session);
  void reply.header('set-cookie', `session=${id}; HttpOnly; SameSite=Lax; Path=/`);
}

export function userOf(request: FastifyRequest): string {
  const session = sessionOf(request);
  if (session === undefined || !('userId' in session)) throw new SignedOut('/sign-in');
  return session.userId;
}

export function requireStaff(request: FastifyRequest): void {
  const session = sessionOf(request);
  if (session === undefined || !('isStaff' in session)) throw new SignedOut('/staff/sign-in');
}

/** References of orders and reports begin with their user's id, so the path shows whose they are. */
export function newReference(userId: string): string {
  return `${userId}.${Date.now().toString(36)}`;
}

export function referenceOf(request: FastifyRequest): string {
  const { reference = '' } = request.params as { reference?: string };
  return ownReference(request, reference);
}

export function ownReference(request: FastifyRequest, reference: string): string {
  if (!reference.startsWith(`${userOf(request)}.`)) throw new NotYours('There is no such order or report');
  return reference;
}

/** A form's fields; empty ones are left out. */
export function fieldsOf(request: FastifyRequest): Record<string, string> {
  const entries = Object.entries((request.body ?? {}) as Record<string, string>);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

const account: Field = {
  name: 'client_user_id',
  label: 'Account',
  hint: 'Your own id of the customer, such as account-17. Never a name or an e-mail address.',
};
const key: Field = { name: 'key', label: 'Staff key', type: 'password', hint: 'The setting STAFF_KEY' };

/** Signing in: a customer by an account, staff by a key. In your backend: with a password, at least. */
export function sessionRoutes(app: FastifyInstance, lab: LabOperations, staffKey: string | undefined): void {
  const customerPage = (reply: FastifyReply, problem?: Problem, entered?: Record<string, string>) => {
    const content = html`${form('/sign-in', 'Sign in', { fields: [account], problem, ...(entered && { entered }) })}
      <p><a href="/staff/sign-in">For staff</a></p>`;
    return show(reply, 'Sign in', content, { audience: 'nobody', status: problem ? 422 : 200 });
  };
  app.get('/sign-in', (_request, reply) => customerPage(reply));
  app.post('/sign-in', (request, reply) => {
    const entered = fieldsOf(request);
    const act = async () => {
      const clientUserId = entered['client_user_id'] ?? '';
      if (!/^[\w.-]{1,64}$/.test(clientUserId)) {
        throw new FieldProblem('client_user_id', 'must be letters, digits, dots, hyphens or underscores');
      }
      const userId = users.get(clientUserId) ?? (await newUser(lab, clientUserId));
      begin(reply, { userId });
      return '/';
    };
    return carryOut(reply, act, (problem) => customerPage(reply, problem, entered));
  });

  const staffPage = (reply: FastifyReply, problem?: Problem) => {
    const content = form('/staff/sign-in', 'Sign in', { fields: [key], problem });
    return show(reply, 'Sign in as staff', content, { audience: 'nobody', status: problem ? 422 : 200 });
  };
  app.get('/staff/sign-in', (_request, reply) => staffPage(reply));
  app.post('/staff/sign-in', (request, reply) => {
    const act = () => {
      requireFewGuesses();
      if (!isSame(fieldsOf(request)['key'] ?? '', staffKey)) {
        wrongKeys.push(Date.now());
        throw new FieldProblem('key', 'is wrong');
      }
      begin(reply, { isStaff: true });
      return '/staff';
    };
    // oxlint-disable-next-line require-await
    return carryOut(
      reply,
      async () => act(),
      (problem) => staffPage(reply, problem),
    );
  });

  app.post('/sign-out', (request, reply) => {
    const [, id = ''] = /session=([0-9a-f-]{36})/.exec(request.headers.cookie ?? '') ?? [];
    sessions.delete(id);
    return reply.redirect('/sign-in', 303);
  });
}

async function newUser(lab: LabOperations, clientUserId: string): Promise<string> {
  const { user } = await lab.users.createOrGet({ client_user_id: clientUserId });
  users.set(clientUserId, user.user_id);
  return user.user_id;
}

/** When somebody gave a wrong key. In your backend: counted for each account and address, in a table. */
const wrongKeys: number[] = [];
const mostWrongKeys = 5;

function requireFewGuesses(): void {
  const from = Date.now() - 60_000;
  while (wrongKeys[0] !== undefined && wrongKeys[0] < from) wrongKeys.shift();
  if (wrongKeys.length >= mostWrongKeys) throw new FieldProblem('key', 'was wrong too often: wait for a minute');
}

function isSame(given: string, expected: string | undefined): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return expected !== undefined && timingSafeEqual(digest(given), digest(expected));
}
