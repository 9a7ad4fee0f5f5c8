import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deleteUserId, isAddressable, kitOrderId } from '../../../protocol/ids.js';
import { ofUser } from '../../../protocol/search-attributes.js';
import { canonicalId, isMisspeltUuid } from '../../../service/canonical-id.js';
import * as fields from '../../../service/fields.js';
import { usersMentionedIn } from '../../../store/mentioned-users.js';

/** The forms in which programs write a UUID. */
const forms: ((uuid: string) => string)[] = [
  (uuid) => uuid,
  (uuid) => uuid.replaceAll('-', ''),
  (uuid) => `{${uuid}}`,
  (uuid) => `{${uuid.replaceAll('-', '')}}`,
  (uuid) => `urn:uuid:${uuid}`,
  (uuid) => `uuid:${uuid}`,
  (uuid) => `urn:uuid:{${uuid}}`,
];
const cases: ((text: string) => string)[] = [
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => Array.from(text, (letter, index) => (index % 2 ? letter.toUpperCase() : letter)).join(''),
];
const blanks = fc.constantFrom('', ' ', '\n', '\t ', '\u00a0');

const spelled = fc
  .tuple(fc.uuid(), fc.constantFrom(...forms), fc.constantFrom(...cases), blanks, blanks)
  .map(([uuid, form, inCase, before, after]) => ({ uuid, text: `${before}${inCase(form(uuid))}${after}` }));

test('every spelling of a UUID is one id, in workflow IDs, search attributes, answers and bodies', () => {
  fc.assert(
    fc.property(spelled, ({ uuid, text }) => {
      expect(canonicalId(text)).toBe(uuid);
      expect(isAddressable(text)).toBe(true);
      expect(deleteUserId(text)).toBe(`delete-user/${uuid}`);
      expect(kitOrderId(text)).toBe(`kit-order/${uuid}`);
      expect(ofUser(text)).toMatchObject([{ value: uuid }]);
      expect(fields.id.parse(text)).toBe(uuid);
      expect(usersMentionedIn(JSON.stringify({ user_id: text })).userIds).toEqual([uuid]);
    }),
  );
});

test('a UUID in an unknown form is not an id: it could be taken for another user', () => {
  const separated = ['_', '.', ':', '/', '\u2011', ' '].map((by) => (uuid: string) => uuid.replaceAll('-', by));
  const odd = [
    ...separated,
    (uuid: string) => `(${uuid})`,
    (uuid: string) => `"${uuid}"`,
    (uuid: string) => `guid:${uuid}`,
  ];
  fc.assert(
    fc.property(fc.uuid(), fc.constantFrom(...odd), fc.constantFrom(...cases), (uuid, form, inCase) => {
      const text = inCase(form(uuid));
      expect(isMisspeltUuid(text)).toBe(true);
      expect(isAddressable(text)).toBe(false);
      expect(ofUser(text)).toEqual([]);
    }),
  );
});

test('an id that is not a UUID stays as it is', () => {
  const lengths = [31, 33, 500].map((length) => 'f'.repeat(length));
  for (const id of ['u-1', 'User_17', 'e66321dd-4e0g-5226-9373-6124g811d8cf', '', ' a ', '{x}', ...lengths]) {
    expect(canonicalId(id)).toBe(id);
    expect(isMisspeltUuid(id)).toBe(false);
  }
});
