import { createHash } from 'node:crypto';
import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import type { LabOperations } from '../../client/index.js';
import { answerErrors } from '../../examples/backend/errors.js';
import { html, webLink } from '../../examples/backend/html.js';
import { protect } from '../../examples/backend/protection.js';
import { sessionRoutes } from '../../examples/backend/session.js';

const staffKey = 'invented-staff-key';

/** The example's own parts, without the lab and without a port. */
function backend() {
  const app = fastify();
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
  protect(app);
  answerErrors(app);
  sessionRoutes(app, {} as LabOperations, staffKey);
  const signIn = (key: string, headers: Record<string, string> = {}) =>
    app.inject({
      method: 'POST',
      url: '/staff/sign-in',
      headers: { 'content-type': 'application/x-www-form-urlencoded', host: 'shop.example', ...headers },
      payload: new URLSearchParams({ key }).toString(),
    });
  return { app, signIn };
}

const scripts = ['javascript:alert(1)', ' JavaScript:alert(1)', 'data:text/html,x', 'vbscript:x'];
test.each([...scripts, '//other.example', 'x'])('the example makes no link of %s', (url) => {
  expect(html`${webLink(url, 'text')}`.text).toBe('text');
});

test('the example links to web addresses only, and sends their hosts no referrer', () => {
  const { text } = html`${webLink('https://courier.example/?a=1&b="2"', 'text')}`;
  expect(text).toBe('<a href="https://courier.example/?a=1&#38;b=&#34;2&#34;" rel="noreferrer">text</a>');
});

test('a page of the example lets browsers run its own styles and scripts only, and guess no type', async () => {
  const { app } = backend();
  const { headers, body } = await app.inject('/sign-in');
  expect(headers['x-content-type-options']).toBe('nosniff');
  const policy = String(headers['content-security-policy']);
  expect(policy).toMatch(/default-src 'none'.*form-action 'self'.*frame-ancestors 'none'/);
  expect(policy).not.toContain('unsafe');
  const [, style = ''] = /<style>([^]*)<\/style>/.exec(body) ?? [];
  expect(policy).toContain(`'sha256-${createHash('sha256').update(style).digest('base64')}'`);
});

test.each(['https://other.example', 'http://shop.example.other.example', 'http://shop.example:81', 'null'])(
  'the example refuses a form that comes from %s',
  async (origin) => {
    const { app, signIn } = backend();
    expect((await signIn(staffKey, { origin })).statusCode).toBe(403);
    for (const own of ['http://shop.example', 'https://shop.example']) {
      expect((await signIn(staffKey, { origin: own })).statusCode).toBe(303);
    }
    await app.close();
  },
);

// Last: the guesses are counted for the whole process.
test('the example lets nobody go on guessing the staff key', async () => {
  const { signIn } = backend();
  const answers = [];
  for (let n = 0; n < 20; n++) answers.push(await signIn(`guess-${n}`));
  expect(answers.filter(({ body }) => body.includes('is wrong'))).toHaveLength(5);
  const right = await signIn(staffKey);
  expect(right.statusCode).toBe(422);
  expect(right.body).toContain('wait for a minute');
});
