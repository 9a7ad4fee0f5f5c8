import { expect, test } from 'vitest';
import { isLinkAddressable, linkProviderId } from '../../../protocol/ids.js';
import { isSameSource, sourceSlugOf } from '../../../protocol/link/provider-source.js';

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
