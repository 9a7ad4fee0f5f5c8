import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSignedUrl } from '../../../protocol/report/signed-url.js';

test.each([
  'https://bucket.s3.example.com/report.pdf?X-Amz-Algorithm=AWS4&X-Amz-Credential=AK%2F1&X-Amz-Signature=ab',
  'https://files.example.com/report.pdf?x-amz-security-token=abc',
  'https://storage.example.com/b/report.pdf?X-Goog-Algorithm=G&X-Goog-Signature=ab',
  'https://store.example.com/c/report.pdf?sv=2024-01-01&se=2030-01-01&sr=b&sp=r&sig=ab%3D',
  'https://old.example.com/report.pdf?AWSAccessKeyId=A&Expires=1&Signature=ab',
  'https://cdn.example.com/report.pdf?Policy=a&Key-Pair-Id=b',
  'https://example.com/report.pdf?token=abc',
  'https://example.com/report.pdf?ACCESS_TOKEN=abc',
  'https://example.com/report.pdf?a=1;auth_token=abc',
  'https://example.com/report.pdf?%74oken=abc',
  'https://example.com/report.pdf?x=1&api_key=abc',
  'https://example.com/report.pdf#access_token=abc',
  'https://example.com/report.pdf?token',
  ...[
    ...['auth_key', '__token__', 'hdnts', 'hdnea', 'key', 'access_key', 'code', 'rlkey', 'ticket', 'session'],
    ...['subscription-key', 'x-api-key', 'verify', 'pass', 'bearer', 'sessionId', 'otp', 'md5hash', 'X-Sig-2'],
  ].map((name) => `https://example.com/report.pdf?version=2&${name}=abc`),
  'https://user:password@example.com/report.pdf',
  'https://token@example.com/report.pdf',
  'https:\\\\user@example.com/report.pdf',
  '  https://user@example.com/report.pdf',
])('a URL with a credential is recognised: %s', (url) => {
  expect(isSignedUrl(url)).toBe(true);
});

test.each([
  'https://example.com/report.pdf',
  'https://example.com/token/signature.pdf',
  'https://example.com/report.pdf?version=2&page=1&download=true&lang=en',
  'https://example.com/a@b/report.pdf',
  'https://example.com/report.pdf?mail=a@example.com',
  'https://example.com/report.pdf?name=token',
  'https://example.com:8443/report.pdf?%',
  'report.pdf',
  '',
])('a URL without a credential is recognised: %s', (url) => {
  expect(isSignedUrl(url)).toBe(false);
});

test('nothing makes the check throw', () => {
  fc.assert(fc.property(fc.string(), (text) => typeof isSignedUrl(text) === 'boolean'));
});

test('the check sees every user name that a URL parser sees', () => {
  fc.assert(
    fc.property(fc.webUrl({ authoritySettings: { withUserInfo: true } }), (text) => {
      const url = new URL(text);
      return url.username + url.password === '' || isSignedUrl(text);
    }),
  );
});
