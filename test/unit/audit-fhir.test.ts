import { expect, test } from 'vitest';
import { auditEventOf } from '../../workers/audit-fhir.js';

const row = {
  ...{ writer: 'worker/5b0e4f7e-9f39-4c0f-8b1a-2d110e4f1c7a', sequence: 17, at: '2026-01-05T10:00:00.123000Z' },
  ...{ actor: 'nurse-7', action: 'kitOrder.cancel', subjects: ['hash-1', 'hash-2'], outcome: 'done' },
  // An empty list is left out: a string of FHIR has at least one character.
  ...{ details: '{"payloads":2,"keyIds":[]}', event: null, keyId: 'k', previous: '', hash: 'hash-of-row' },
};

test('a row is an AuditEvent of FHIR R4, with what it was about as keyed hashes', () => {
  expect(auditEventOf(row)).toEqual({
    resourceType: 'AuditEvent',
    id: 'worker-5b0e4f7e-9f39-4c0f-8b1a-2d110e4f1c7a-17',
    type: { system: 'http://dicom.nema.org/resources/ontology/DCM', code: '110110', display: 'Patient Record' },
    subtype: [{ system: 'urn:lab-operations:action', code: 'kitOrder.cancel' }],
    action: 'E',
    recorded: '2026-01-05T10:00:00.123000Z',
    outcome: '0',
    outcomeDesc: 'done',
    agent: [{ who: { identifier: { system: 'urn:lab-operations:actor', value: 'nurse-7' } }, requestor: true }],
    source: { observer: { identifier: { system: 'urn:lab-operations:writer', value: row.writer } } },
    entity: [
      { what: { identifier: { system: 'urn:lab-operations:keyed-hash', value: 'hash-1' } } },
      { what: { identifier: { system: 'urn:lab-operations:keyed-hash', value: 'hash-2' } } },
      {
        name: 'row of the audit trail',
        detail: [
          { type: 'hash', valueString: 'hash-of-row' },
          { type: 'payloads', valueString: '2' },
        ],
      },
    ],
  });
});

test.each([
  [{ action: 'codec.decode' }, { action: 'R' }],
  [{ action: 'read labops orders show' }, { action: 'R' }],
  [{ action: 'operatorCall.listRejectedEvents' }, { action: 'R' }],
  [{ action: 'operatorCall.discardRejectedEvent' }, { action: 'E' }],
  [
    { action: 'deleteUser', outcome: 'deleted', actor: null },
    { action: 'D', outcome: '0' },
  ],
  [{ outcome: 'AlreadyResolved' }, { outcome: '4' }],
  [{ outcome: 'cancelled' }, { outcome: '8' }],
])('%j is shown as %j', (given, shown) => {
  expect(auditEventOf({ ...row, ...given })).toMatchObject(shown);
});
