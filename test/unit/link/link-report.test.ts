import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linkResultOf, readCode } from '../../../protocol/link/link-report.js';
import { isLinkAddressable, linkProviderId } from '../../../protocol/ids.js';
import { isSameSource, sourceSlugOf } from '../../../protocol/link/provider-source.js';

const cancelled = { state: 'error', errorType: 'user_cancelled' };
const byMail = { method: 'email', hint: 't***@example.com' };
const longest = { method: 'm'.repeat(64), hint: 'h'.repeat(200) };

describe('the answer to a password is read', () => {
  test.each<[string, object, object]>([
    ['with our own field names', { state: 'pending_provider_mfa', providerMfa: byMail }, { providerMfa: byMail }],
    ['with our own name of an error', cancelled, cancelled],
    [
      'with the service’s field names',
      {
        ...{ state: 'pending_provider_mfa', redirect_url: null, error_type: null, error: null, provider_mfa: byMail },
        ...{ provider: 'invented_watch', connected: false, provider_id: null },
      },
      { providerMfa: byMail },
    ],
    [
      'with its error type, and nothing else of an error: texts may quote anything',
      { state: 'error', error_type: 'user_cancelled', error: 'no such user: Testperson' },
      cancelled,
    ],
  ])('%s', (_how, answer, read) => {
    expect(linkResultOf(answer)).toEqual({ state: 'pending_provider_mfa', ...read });
  });

  test('twice like once', () => {
    const once = linkResultOf({ state: 'error', error_type: 'x', provider_mfa: { hint: 'y' }, more: 1 });
    expect(linkResultOf(once)).toEqual(once);
  });

  test.each<[unknown, object | undefined]>([
    [{ method: 'sms' }, { method: 'sms' }],
    [{ hint: 'look at your phone' }, { hint: 'look at your phone' }],
    [{ method: 5, hint: 'a' }, { hint: 'a' }],
    [{ hint: 'h'.repeat(201) }, undefined],
    [{ method: 'm'.repeat(65), hint: 'h'.repeat(201) }, { method: 'unrecognised' }],
    [{ method: 'text to +12175550100' }, { method: 'unrecognised' }],
    [{ method: '' }, undefined],
    [longest, longest],
    [{}, undefined],
    ['sms', undefined],
    [[{ method: 'sms' }], undefined],
  ])('with as much of %j as can be read', (given, read) => {
    for (const name of ['providerMfa', 'provider_mfa']) {
      expect(linkResultOf({ state: 'pending_provider_mfa', [name]: given })?.providerMfa).toEqual(read);
    }
  });

  test.each([[''], [5], [{}], [null]])('without an invalid error type: %j', (type) => {
    expect(linkResultOf({ state: 'error', error_type: type })).toEqual({ state: 'error' });
    expect(linkResultOf({ state: 'error', errorType: type, error_type: 'user_cancelled' })).toEqual(cancelled);
  });

  test.each([
    ...['e'.repeat(65), 'no such user: testperson@example.com', 'Testperson Invented', '+12175550100', '12175550100'],
    ...['a\nb', '_error', 'fehlgeschlägen', ' '],
  ])('without unknown words, which could be about the person: %j', (text) => {
    expect(linkResultOf({ state: text })).toEqual({ state: 'unrecognised' });
    for (const name of ['errorType', 'error_type']) {
      expect(linkResultOf({ state: 'error', [name]: text })).toEqual({ state: 'error', errorType: 'unrecognised' });
    }
    const read = linkResultOf({ state: 'pending_provider_mfa', provider_mfa: { method: text, hint: '***23' } });
    expect(read?.providerMfa).toEqual({ method: 'unrecognised', hint: '***23' });
  });

  const words = ['e', 'E2', 'error_of_next_year', 'error-2', 'error.of.next.year', 'e'.repeat(64)];
  test.each(words)('with an unknown word in lower case: %s', (word) => {
    const saying = (it: string) => ({ state: it, errorType: it, providerMfa: { method: it } });
    expect(linkResultOf(saying(word))).toEqual(saying(word.toLowerCase()));
  });

  test.each([
    ...[undefined, null, '', 'success', 5, true, [], ['success'], {}, { State: 'success' }],
    ...[{ state: null }, { state: '' }, { state: 5 }, { state: ['success'] }],
  ])('as no answer if it has no state: %j', (value) => {
    expect(linkResultOf(value)).toBeUndefined();
  });

  test('with keys that reach for prototypes as data', () => {
    const hostile: unknown = JSON.parse('{"__proto__":{"state":"success"},"constructor":{"state":"success"}}');
    expect(linkResultOf(hostile)).toBeUndefined();
    const polluting = '{"state":"error","__proto__":{"errorType":"x"},"error_type":"user_cancelled"}';
    const read = linkResultOf(JSON.parse(polluting));
    expect(read).toEqual(cancelled);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  });

  test('whatever arrives: nothing throws, and what is kept is short words and a hint', () => {
    const words = fc.oneof(fc.anything(), fc.string({ maxLength: 300 }));
    const mfa = fc.oneof(fc.anything(), fc.record({ method: words, hint: words }));
    const types = { error_type: words, errorType: words };
    const answer = fc.record({ state: words, ...types, provider_mfa: mfa, providerMfa: mfa });
    fc.assert(
      fc.property(fc.oneof(fc.anything(), answer), (value) => {
        const read = linkResultOf(value);
        for (const word of [read?.state, read?.errorType, read?.providerMfa?.method]) {
          expect(word ?? 'none').toMatch(/^[A-Za-z][\w.-]{0,63}$/);
        }
        expect((read?.providerMfa?.hint ?? '').length).toBeLessThanOrEqual(200);
        expect(Object.keys(read ?? {}).every((key) => ['state', 'errorType', 'providerMfa'].includes(key))).toBe(true);
      }),
    );
  });
});

const typed = ['123456', '123 456', '123-456', '0', '12345!', '１２３４５６', 'códe1', 'correct horse'];
test.each(typed)('a code is sent as it was typed, without blanks around it, which pasting adds: %j', (given) => {
  expect(readCode(given)).toBe(given);
  expect(readCode(` ${given}\n`)).toBe(given);
});

test.each([
  ...['', '   ', '\n', '1'.repeat(100_000)],
  ...[123456, null, undefined, true, {}, ['123456'], { toString: () => '123456' }],
])('a code is never %j', (given) => {
  expect(readCode(given)).toBeUndefined();
});

const userId = '6f0c0a49-2f0a-4b5e-8d6f-000000000001';

test('a link and the webhook of its connection find the same workflow, however the provider is spelt', () => {
  const ids = ['invented_watch', 'invented-watch', 'Invented-Watch', 'INVENTED_WATCH'].map((provider) =>
    linkProviderId(userId, provider),
  );
  expect(new Set(ids)).toEqual(new Set([`link-provider/${userId}/invented_watch`]));
});

test('a link and the webhook of its connection find the same workflow, in either case of a UUID', () => {
  expect(linkProviderId(userId.toUpperCase(), 'invented_watch')).toBe(`link-provider/${userId}/invented_watch`);
  expect(linkProviderId('Not-A-Uuid', 'invented_watch')).toBe('link-provider/Not-A-Uuid/invented_watch');
});

test.each([
  ['invented_watch', 'invented_watch'],
  ['invented-watch', 'Invented_Watch'],
  ['invented_watch', ' invented_watch '],
])('a provider and a slug are the same source: %j and %j', (provider, slug) => {
  expect(isSameSource(provider, slug)).toBe(true);
  expect(sourceSlugOf(provider)).toBe(sourceSlugOf(slug));
});

test.each([
  ['invented_watch', 'invented_watch_2'],
  ['invented_watch', 'inventedwatch'],
  ['invented_watch', ''],
])('a provider and a slug are different: %j and %j', (provider, slug) => {
  expect(isSameSource(provider, slug)).toBe(false);
});

test('different users and providers never share a workflow', () => {
  const pairs = ['a b', 'b a', 'a_b c', 'a b_c', 'A b'];
  const ids = pairs.map((pair) => linkProviderId(pair.replace(/ .*/, ''), pair.replace(/.* /, '')));
  expect(new Set(ids).size).toBe(pairs.length);
});

test.each([
  ...['', '.', '..', 'a/b', 'a b', 'Testperson@example.com', 'ü', 'a\nb', 'a'.repeat(129)],
  ...[undefined, null, 5, {}, ['a']],
])('an ID is not made of %j', (part) => {
  expect(isLinkAddressable(part, 'invented_watch')).toBe(false);
  expect(isLinkAddressable(userId, part)).toBe(false);
});

test.each(['a', 'a'.repeat(128), 'user.1', '-', '_', 'A-1_b.c'])('an ID is made of %j', (part) => {
  expect(isLinkAddressable(part, part)).toBe(true);
});
