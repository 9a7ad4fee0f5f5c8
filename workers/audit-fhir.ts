import type { AuditRow } from '../store/audit-trail.js';

/** Systems of codes and ids that are this project's own. */
const own = (what: string) => `urn:lab-operations:${what}`;

/** A FHIR R4 AuditEvent (http://hl7.org/fhir/R4/auditevent.html). What it was about is a keyed hash there, too. */
export function auditEventOf(row: AuditRow): object {
  const { writer, sequence, at, actor, action, subjects, outcome, hash } = row;
  // A string of FHIR has at least one character.
  const details = [['hash', hash], ...Object.entries(JSON.parse(row.details) as object)]
    .map(([type, value]) => ({ type, valueString: String(value) }))
    .filter(({ valueString }) => valueString !== '');
  const who = actor === null ? { display: 'not known' } : { identifier: { system: own('actor'), value: actor } };
  return {
    resourceType: 'AuditEvent',
    id: `${writer.replace('/', '-')}-${sequence}`,
    type: { system: 'http://dicom.nema.org/resources/ontology/DCM', code: '110110', display: 'Patient Record' },
    subtype: [{ system: own('action'), code: action }],
    action: actionOf(action),
    recorded: at,
    outcome: outcomeOf(outcome),
    outcomeDesc: outcome,
    agent: [{ who, requestor: true }],
    source: { observer: { identifier: { system: own('writer'), value: writer } } },
    entity: [
      ...subjects.map((subject) => ({ what: { identifier: { system: own('keyed-hash'), value: subject } } })),
      { name: 'row of the audit trail', detail: details },
    ],
  };
}

/** Read, delete or execute. */
function actionOf(action: string): 'R' | 'D' | 'E' {
  if (action === 'deleteUser') return 'D';
  return /^(codec\.decode|read |labops |operatorCall\.(list|read))/.test(action) ? 'R' : 'E';
}

/** Success, minor failure for a refusal, whose type begins with a capital, or serious failure. */
function outcomeOf(outcome: string): '0' | '4' | '8' {
  if (/^(failed|cancelled)$/.test(outcome)) return '8';
  return /^[A-Z]/.test(outcome) ? '4' : '0';
}
