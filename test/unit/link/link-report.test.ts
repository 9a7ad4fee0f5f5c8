import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linkResultOf } from '../../../protocol/link/link-report.js';

describe('the answer to a password is read', () => {
  test('the answer to a password is read with our own field names', () => {
    const report = { state: 'pending_provider_mfa', providerMfa: { method: 'sms', hint: '***23' } };
    expect(linkResultOf(report)).toEqual(report);
    expect(linkResultOf({ state: 'error', errorType: 'user_cancelled' })).toEqual({
      state: 'error',
      errorType: 'user_cancelled',
    });
  });

  test('the answer to a password is read with the service’s field names', () => {
    const answer = {
      state: 'pending_provider_mfa',
      redirect_url: null,
      error_type: null,
      error: null,
      provider_mfa: { method: 'email', hint: 't***@example.com' },
      provider: 'invented_watch',
      connected: false,
      provider_id: null,
    };
    expect(linkResultOf(answer)).toEqual({
      state: 'pending_provider_mfa',
      providerMfa: { method: 'email', hint: 't***@example.com' },
    });
  });

  test('the answer to a password is read with its error type, and nothing else of an error: texts may quote anything', () => {
    const answer = { state: 'error', error_type: 'provider_credential_error', error: 'no such user: Testperson' };
    expect(linkResultOf(answer)).toEqual({ state: 'error', errorType: 'provider_credential_error' });
  });

  test('the answer to a password may be read twice', () => {
    const once = linkResultOf({ state: 'error', error_type: 'x', provider_mfa: { hint: 'y' }, more: 1 });
    expect(linkResultOf(once)).toEqual(once);
  });

  test.each([
    [{ method: 'sms' }, { method: 'sms' }],
    [{ hint: 'look at your phone' }, { hint: 'look at your phone' }],
    [{ method: 5, hint: 'a' }, { hint: 'a' }],
    [{ hint: 'h'.repeat(201) }, undefined],
    [{ method: 'm'.repeat(65), hint: 'h'.repeat(201) }, { method: 'unrecognised' }],
    [{ method: 'text to +12175550100' }, { method: 'unrecognised' }],
    [{ method: '' }, undefined],
    [
      { method: 'm'.repeat(64), hint: 'h'.repeat(200) },
      { method: 'm'.repeat(64), hint: 'h'.repeat(200) },
    ],
    [{}, undefined],
    ['sms', undefined],
    [[{ method: 'sms' }], undefined],
  ])('the answer to a password is read with as much of %j as can be read', (given, read) => {
    for (const name of ['providerMfa', 'provider_mfa']) {
      expect(linkResultOf({ state: 'pending_provider_mfa', [name]: given })?.providerMfa).toEqual(read);
    }
  });

  test.each([[''], [5], [{}], [null]])('the answer to a password is read without an invalid error type: %j', (type) => {
    expect(linkResultOf({ state: 'error', error_type: type })).toEqual({ state: 'error' });
    expect(linkResultOf({ state: 'error', errorType: type, error_type: 'user_cancelled' })).toEqual({
      state: 'error',
      errorType: 'user_cancelled',
    });
  });

  test.each([
    'e'.repeat(65),
    'no such user: testperson@example.com',
    'Testperson Invented',
    '+12175550100',
    '12175550100',
    'a\nb',
    '_error',
    'fehlgeschlägen',
    ' ',
  ])('the answer to a password is read without unknown words, which could be about the person: %j', (text) => {
    expect(linkResultOf({ state: text })).toEqual({ state: 'unrecognised' });
    for (const name of ['errorType', 'error_type']) {
      expect(linkResultOf({ state: 'error', [name]: text })).toEqual({ state: 'error', errorType: 'unrecognised' });
    }
    const read = linkResultOf({ state: 'pending_provider_mfa', provider_mfa: { method: text, hint: '***23' } });
    expect(read?.providerMfa).toEqual({ method: 'unrecognised', hint: '***23' });
  });

  test.each(['e', 'E2', 'error_of_next_year', 'error-2', 'error.of.next.year', 'e'.repeat(64)])(
    'the answer to a password is read with an unknown word in lower case: %s',
    (word) => {
      const read = word.toLowerCase();
      expect(linkResultOf({ state: word, errorType: word, providerMfa: { method: word } })).toEqual({
        state: read,
        errorType: read,
        providerMfa: { method: read },
      });
    },
  );
});

test.each([
  ...[undefined, null, '', 'success', 5, true, [], ['success'], {}, { State: 'success' }],
  ...[{ state: null }, { state: '' }, { state: 5 }, { state: ['success'] }],
])('as no answer if it has no state: %j', (value) => {
  expect(linkResultOf(value)).toBeUndefined();
});

test('keys that reach for prototypes are data', () => {
  const hostile: unknown = JSON.parse('{"__proto__":{"state":"success"},"constructor":{"state":"success"}}');
  expect(linkResultOf(hostile)).toBeUndefined();
  const polluting: unknown = JSON.parse(
    '{"state":"error","__proto__":{"errorType":"x"},"error_type":"user_cancelled"}',
  );
  expect(linkResultOf(polluting)).toEqual({ state: 'error', errorType: 'user_cancelled' });
  expect(Object.getPrototypeOf(linkResultOf(polluting))).toBe(Object.prototype);
});

test('whatever arrives, nothing throws, and what is kept is short words and a hint', () => {
  const words = fc.oneof(fc.anything(), fc.string({ maxLength: 300 }));
  const mfa = fc.oneof(fc.anything(), fc.record({ method: words, hint: words }));
  const answer = fc.record({ state: words, error_type: words, errorType: words, provider_mfa: mfa, providerMfa: mfa });
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
