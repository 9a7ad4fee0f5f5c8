import { describe, expect, test } from 'vitest';
import { renamedSource, wireNamesOf } from '../../renaming/wire-names.js';

/** Each name's kind and what the line becomes. */
function renamings(text: string): [kind: string, text: string][] {
  return wireNamesOf(text).map((renaming) => [renaming.kind, renamedSource(text, renaming)]);
}

describe('a name of the wire', () => {
  test('is each key of a schema, whatever it is called', () => {
    const text = 'const s = z.looseObject({ id: textSchema, consentType: z.string() });';
    expect(renamings(text)).toEqual([
      ['field', 'const s = z.looseObject({ id_renamed: textSchema, consentType: z.string() });'],
      ['field', 'const s = z.looseObject({ id: textSchema, consentType_renamed: z.string() });'],
    ]);
  });

  test('is each key of a body and a query, also where it is short', () => {
    expect(renamings('send({ path: PATH, body: { context, order_id: orderId }, query: { page } });')).toEqual([
      ['field', 'send({ path: PATH, body: { context_renamed: context, order_id: orderId }, query: { page } });'],
      ['field', 'send({ path: PATH, body: { context, order_id_renamed: orderId }, query: { page } });'],
      ['field', 'send({ path: PATH, body: { context, order_id: orderId }, query: { page_renamed: page } });'],
    ]);
  });

  test('is a path, by its last fixed step', () => {
    expect(renamings("const p = '/v2/user/{user_id}';")).toEqual([['path', "const p = '/v2/user-renamed/{user_id}';"]]);
    expect(renamings('const p = `${ORDERS}/cancel`;')).toEqual([['path', 'const p = `${ORDERS}/cancel-renamed`;']]);
    expect(renamings("const p = '/v2/user/';")).toEqual([['path', "const p = '/v2/user-renamed/';"]]);
  });

  test('is a header, also a piece of one, and a word of a form', () => {
    expect(renamings("const h = answer.headers['retry-after'];")).toEqual([
      ['header', "const h = answer.headers['retry-after-renamed'];"],
    ]);
    expect(renamings('const h = `x-${brand}-api-key`;').map(([kind]) => kind)).toEqual(['header', 'header']);
    expect(renamings('const h = `content-type: form\\r\\n`;')).toHaveLength(2);
  });

  test('is a word that is sent, expected or compared, and a field that is read by its text', () => {
    expect(renamings("const states = ['success', 'error'] as const;")).toHaveLength(2);
    expect(renamings("if (account.flow === 'order_delegated') go();")).toHaveLength(1);
    expect(renamings("const user = body['user_id'];")).toEqual([['field', "const user = body['user_id_renamed'];"]]);
    expect(renamings('const { order_id: orderId } = data;')).toEqual([
      ['field', 'const { order_id_renamed: orderId } = data;'],
    ]);
  });

  test.each([
    ['a sentence', "const rule = 'must not be empty';"],
    ['an import', "import { z } from 'zod';"],
    ['a type', "type State = 'success' | 'error'; interface A { kind: 'order'; user_id: string }"],
    ['a comment', '// user_id\n/* /v3/order */'],
    ["an error's class", "class A extends Error { override readonly name = 'NotFound'; }"],
    ['what a platform understands', "socket.on('error', stop); hash.digest().toString('base64');"],
    ['the type of a value', "if (typeof value === 'string') go();"],
    ['the names of a template', "call({ params: { order_id: orderId } }); const p = '{order_id}';"],
    ['our own alternatives', "const a = { kind: 'order', auth: 'management', method: 'GET', eventType };"],
  ])('is not %s', (_what, text) => {
    expect(renamings(text)).toEqual([]);
  });
});
