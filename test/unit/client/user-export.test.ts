import { expect, test } from 'vitest';
import { withoutCredentials } from '../../../client/user/export.js';

test('the export has what was sent without credentials: the token of a later run, a code, a signed address', () => {
  const link = { userId: 'u', phase: 'awaiting_code', tokens: 1 };
  const carried = { ...link, token: { token: 't', url: 'https://x.test/t' } };
  expect(withoutCredentials('start', { carried })).toEqual({ carried: link });
  expect(withoutCredentials('submitMfaCode', { code: '900001' })).toEqual({});
  const signed = { url: 'https://files.test/1.pdf?X-Amz-Signature=abc' };
  expect(withoutCredentials('start', { file: signed, reference: 'r' })).toEqual({ file: {}, reference: 'r' });
  const plain = { file: { url: 'https://files.test/1.pdf' }, site: { code: 'A7' } };
  expect(withoutCredentials('start', plain)).toEqual(plain);
  expect([null, undefined].map((content) => withoutCredentials('start', content))).toEqual([null, undefined]);
});
