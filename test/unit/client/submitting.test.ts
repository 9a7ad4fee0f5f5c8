import { Client, Connection } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { LabOperations, ReportInvalid, SignedUrlRefused, type ReportSubmission } from '../../../client/index.js';

/** Nothing listens there: whatever is refused here is refused before anything is sent. */
const temporal = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });
const { reports } = new LabOperations(temporal);

const submission = { reference: 'report-1', userId: 'user-1', file: { path: 'report.pdf' } };

async function refusalOf(changes: object): Promise<unknown> {
  const given = { ...submission, ...changes } as unknown as ReportSubmission;
  return reports.submit(given).catch((error: unknown) => error);
}

async function faultsOf(changes: object): Promise<string[]> {
  const refusal = await refusalOf(changes);
  expect(refusal).toBeInstanceOf(ReportInvalid);
  return (refusal as ReportInvalid).fields.map(({ field }) => field);
}

describe('a report is refused before anything is started', () => {
  test.each([undefined, null, 7, '', 'with space', 'a/b'])(
    'a report is refused before anything is started with the reference %j',
    async (reference) => {
      expect(await faultsOf({ reference })).toEqual(['reference']);
    },
  );

  test.each([undefined, null, '', '..', "a' OR 'a", 7])(
    'a report is refused before anything is started for the user %j',
    async (userId) => {
      expect(await faultsOf({ userId })).toEqual(['userId']);
    },
  );

  test.each([
    [undefined, 'file'],
    [null, 'file'],
    ['report.pdf', 'file'],
    [{}, 'file'],
    [{ path: 'a.pdf', url: 'https://files.example.com/a.pdf' }, 'file'],
    [{ path: 7 }, 'file.path'],
    [{ path: 'a.pdf', headersFrom: 'store' }, 'file.headersFrom'],
    [{ url: 'ftp://files.example.com/a.pdf' }, 'file.url'],
    [{ url: 'file:///etc/passwd' }, 'file.url'],
    [{ url: 'https://' }, 'file.url'],
    [{ url: 'https://files.example.com/a.pdf', headersFrom: '' }, 'file.headersFrom'],
  ])('a report is refused before anything is started with the file %j', async (file, field) => {
    expect(await faultsOf({ file })).toEqual([field]);
  });

  test('a report is refused before anything is started with all its faults named at once', async () => {
    const changes = { reference: '', userId: '', file: {}, needsHumanReview: 'yes', policy: { firstPoll: 'soon' } };
    expect(await faultsOf(changes)).toEqual(['reference', 'file', 'policy', 'userId', 'needsHumanReview']);
  });

  test.each([
    'https://files.example.com/a.pdf?X-Amz-Signature=abc',
    'https://files.example.com/a.pdf?sig=abc',
    'https://user:password@files.example.com/a.pdf',
  ])(
    'the signed URL %s is refused while payloads are not encrypted, and the refusal does not repeat it',
    async (url) => {
      const refusal = await refusalOf({ file: { url } });
      expect(refusal).toBeInstanceOf(SignedUrlRefused);
      expect((refusal as SignedUrlRefused).fields).toMatchObject([{ field: 'file.url' }]);
      expect(String(refusal)).not.toMatch(/abc|password/);
    },
  );

  test('a search by an invalid reference is refused before anything is started', async () => {
    await expect(reports.get({ reference: 'a b' })).rejects.toBeInstanceOf(ReportInvalid);
  });
});
