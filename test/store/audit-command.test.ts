import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPayloadConverter } from '@temporalio/common';
import { Client } from 'pg';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { parseKeyRing } from '../../client/encryption/key-ring.js';
import { createPayloadCodec } from '../../client/encryption/payload-codec.js';
import { AuditChain, AuditHashes } from '../../store/audit-trail.js';
import { openStore } from '../../store/health-data-store.js';
import { migrateDatabase } from '../../store/schema-state.js';
import { startCodecServer } from '../../workers/codec-server.js';
import { createLog } from '../../workers/log.js';
import { readCodecServerConfig } from '../../workers/settings/config.js';
import { workerCommand } from '../e2e/labops.js';
import { as, newDatabase } from '../rig/stores.js';

/* `labops audit` as an operator runs it: heads that are kept, rows that are old, and what was tampered with. */

const postgresUrl = inject('postgresUrl');
const keys = `audit:${Buffer.from('an-invented-audit-key---32-bytes').toString('base64')}`;
const hashes = new AuditHashes(() => parseKeyRing(keys));
const pem = (key: { export: (options: never) => unknown }, type: string) =>
  String(key.export({ format: 'pem', type } as never));

async function deployment() {
  const place = await newDatabase(postgresUrl ?? '');
  await migrateDatabase(place.databaseUrl);
  const folder = await mkdtemp(join(tmpdir(), 'audit-'));
  const [owner, store] = [new Client(place.databaseUrl), await openStore(as('lab_worker', place))];
  await owner.connect();
  onTestFinished(async () => {
    await Promise.all([owner.end(), store.close(), rm(folder, { recursive: true })]);
  });
  const signing = generateKeyPairSync('ed25519');
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  const env = { AUDIT_KEYS: keys, RECEIPT_KEY: pem(signing.privateKey, 'pkcs8') };
  const run = async (databaseUrl: string, args: string[], more: Record<string, string | undefined>) => {
    const { code, stdout, stderr } = await workerCommand(['audit', ...args], {
      ...env,
      DATABASE_URL: databaseUrl,
      ...more,
    });
    return [code, stdout + stderr] as const;
  };
  return {
    ...{ store, file },
    publicKey: await file('public.pem', pem(signing.publicKey, 'spki')),
    codecUrl: as('lab_codec', place).databaseUrl,
    tamper: (sql: string) => owner.query(sql.replaceAll('audit_', 'health_data.audit_')),
    asAuditor: (args: string[], more = {}) => run(as('lab_auditor', place).databaseUrl, args, more),
    asOwner: (args: string[], more = {}) => run(place.databaseUrl, args, more),
  };
}

const entry = (at: string) => ({ at, action: 'kitOrder.cancel', subjects: [], outcome: 'done' });
const recently = () => new Date().toISOString();
const longAgo = '2019-01-05T10:00:00.000Z';

describe.skipIf(postgresUrl === undefined)('`labops audit`, on PostgreSQL', () => {
  test('removes what is older than six years, after which the rest and what was exported before are intact', async () => {
    const { store, file, publicKey, asAuditor, asOwner, tamper } = await deployment();
    await store.audit.append(new AuditChain('ended', hashes), [entry(longAgo), entry(longAgo)]);
    const going = new AuditChain('going', hashes);
    await store.audit.append(going, [entry(longAgo), entry(longAgo), entry(recently()), entry(longAgo)]);
    const [code, heads] = await asAuditor(['heads']);
    expect(code).toBe(0);
    const kept = await file('heads', heads);

    expect(await asAuditor(['remove'])).toEqual([1, expect.stringMatching(/permission denied/)]);
    expect(await asOwner(['remove'])).toEqual([0, expect.stringMatching(/6 rows of 2 writers: intact\n4 rows from/)]);
    await store.audit.append(going, [entry(recently())]);
    const offline = { RECEIPT_KEY: undefined };
    const verified = ['verify', '--heads', kept, '--key', publicKey];
    expect(await asAuditor(verified, offline)).toEqual([0, '3 rows of 1 writers: intact\n']);
    const [, again] = await asOwner(['remove', '-o', 'json']);
    const intact = { rows: 3, writers: 1, intact: true, faults: [] };
    expect(JSON.parse(again)).toEqual({
      ...intact,
      removed: 0,
      before: expect.stringMatching(/^\d{4}-.+Z$/) as string,
    });
    expect(await asAuditor(['verify'], offline)).toEqual([
      2,
      expect.stringMatching(/give the public key as --key, or set RECEIPT_KEY\.$/m),
    ]);

    // What was exported is not a checkpoint, and nobody without the key makes one.
    await tamper(`delete from audit_trail where writer = 'going' and sequence = 3`);
    expect(await asAuditor(['verify'])).toEqual([1, expect.stringMatching(/^going, row 3: removed\n2 rows .+ NOT/)]);
    const [status, said] = await asAuditor(['verify', '-o', 'json']);
    expect([status, JSON.parse(said)]).toEqual([
      1,
      { rows: 2, writers: 1, intact: false, faults: [{ fault: 'missing', writer: 'going', sequence: 3, upTo: 3 }] },
    ]);
    expect(await asOwner(['remove'])).toEqual([1, expect.stringMatching(/Nothing was removed/)]);
    for (const forged of [heads.trim(), 'a.b.c']) {
      await tamper(`insert into audit_checkpoints (signed) values ('${forged}')`);
      expect(await asAuditor(['verify'])).toEqual([1, expect.stringMatching(/last checkpoint is not signed/i)]);
    }
    await tamper('delete from audit_checkpoints');
    expect(await asAuditor(['verify'])).toEqual([1, expect.stringMatching(/^going, rows 1 to 3: removed\n/)]);
  });

  test('finds by signed heads that a chain was cut, and takes no others', async () => {
    const { store, file, asAuditor, asOwner, tamper } = await deployment();
    await store.audit.append(new AuditChain('a', hashes), [entry(recently()), entry(recently())]);
    const [, heads] = await asAuditor(['heads']);
    await tamper(`delete from audit_trail where sequence = 2`);
    expect(await asAuditor(['verify'])).toEqual([0, '1 rows of 1 writers: intact\n']);
    const verify = async (text: string) => asAuditor(['verify', '--heads', await file('heads', text)]);
    expect(await verify(heads)).toEqual([1, 'a, row 2: removed\n1 rows of 1 writers: NOT intact\n']);
    const removal = ['remove', '--heads', await file('heads', heads)];
    expect(await asOwner(removal)).toEqual([1, expect.stringMatching(/NOT intact\nNothing was removed/)]);
    const [header, , signature] = heads.split('.');
    const other = Buffer.from(JSON.stringify({ kind: 'labops audit heads', chains: {} })).toString('base64url');
    expect(await verify(`${header}.${other}.${signature}`)).toEqual([1, expect.stringMatching(/is not signed with/)]);
    expect(await asAuditor(['verify', '--heads', '/nowhere'])).toEqual([2, expect.stringMatching(/\(ENOENT\)\n$/)]);
  });

  test('shows what the codec server has decoded: for whom, how much, with which keys, and of which workflow', async () => {
    const { codecUrl, asAuditor } = await deployment();
    const ring = `payloads:${randomBytes(32).toString('base64')}`;
    const config = readCodecServerConfig({
      ...{ LABOPS_ENCRYPTION_KEYS: ring, CODEC_PORT: '0', CODEC_USER_HEADER: 'X-Forwarded-User' },
      ...{ DATABASE_URL: codecUrl, AUDIT_KEYS: keys },
    });
    const server = await startCodecServer(config, createLog({ ...config, logLevel: 'silent' }, 'test'));
    const workflowId = 'kit-order/invented';
    const place = { type: 'workflow', namespace: 'default', workflowId } as const;
    const secret = defaultPayloadConverter.toPayload('Testperson Imaginary');
    const payloads = await createPayloadCodec(parseKeyRing(ring)).encode([secret, secret], place);
    const base64 = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('base64');
    const json = payloads.map(({ metadata, data }) => ({
      metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)])),
      data: base64(data),
    }));
    for (const user of ['auditor-1', 'auditor@example.com']) {
      const decoded = await fetch(`${server.url}/decode`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'X-Forwarded-User': user },
        body: JSON.stringify({ payloads: json }),
      });
      expect(decoded.status).toBe(200);
    }
    await server.close();
    const [, shown] = await asAuditor(['list', '--subject', workflowId]);
    const [, first, second] = shown.split('\n');
    expect(first).toMatch(/^\S+Z {2}auditor-1 {2}codec\.decode {2}done +\{"payloads":2,"keyIds":\["payloads"\]\}$/);
    expect(second, 'a name is not kept').toMatch(/Z {2}- +codec\.decode .*"user":"not an id"\}$/);
    const [, rows] = await asAuditor(['export']);
    expect(rows).not.toMatch(/invented|Testperson|example\.com/);
  });

  test('adds reads that were recorded elsewhere, each once, or says which line is not one', async () => {
    const { file, asAuditor } = await deployment();
    const at = '2026-01-05T10:00:00.123Z';
    const line = (more: object) => JSON.stringify({ at, what: 'labops orders show', ...more });
    const lines = [line({ actor: 'nurse-7', subject: 'order-1' }), line({ what: 'orders.results' })];
    const reads = async (all: string[]) => asAuditor(['import', await file('reads', `${all.join('\n')}\n`)]);
    expect(await reads(lines)).toEqual([0, '2 of 2 reads are added\n']);
    expect(await reads([...lines, line({ subject: 'order-2' })])).toEqual([0, '1 of 3 reads are added\n']);
    const refused = /Line 2 of \S+ is not a record of a read: nothing was added\.\n$/;
    for (const wrong of ['{', '{}', line({ at: 'today' }), line({ what: 'Invented\nPerson' })])
      expect(await reads([line({ subject: 'order-3' }), wrong])).toEqual([2, expect.stringMatching(refused)]);
    expect(await asAuditor(['list', '--subject', 'order-1'])).toEqual([
      0,
      expect.stringMatching(/\n2026-01-05T10:00:00Z {2}nurse-7 {2}read labops orders show {2}done\n$/),
    ]);
    const [, listed] = await asAuditor(['list', '--subject', 'order-1', '-o', 'json']);
    expect(JSON.parse(listed)).toMatchObject({ rows: [{ actor: 'nurse-7', outcome: 'done', details: {} }] });
    const [, imported] = await asAuditor(['import', await file('reads', lines.join('\n')), '-o', 'json']);
    expect(JSON.parse(imported)).toEqual({ found: 2, added: 0 });
    const [, signed] = await asAuditor(['heads', '-o', 'json']);
    expect(JSON.parse(signed)).toEqual({ heads: expect.stringMatching(/^\S+\.\S+\.\S+$/) as string });
    expect(await asAuditor(['verify'])).toEqual([0, '3 rows of 2 writers: intact\n']);
  });
});
