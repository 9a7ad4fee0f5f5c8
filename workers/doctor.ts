import type { CommandLine } from '../client/command-line/command-line.js';
import { type DoctorConfig, readDoctorConfig } from './doctor/config.js';
import { codecServer } from './doctor/codec-server.js';
import { database } from './doctor/database.js';
import { encryption, encryptionKeys } from './doctor/encryption.js';
import { type Finding, linesOf, notChecked, ok, runChecks, type Verdict } from './doctor/findings.js';
import { notificationTarget } from './doctor/notification-target.js';
import { installations } from './doctor/installations.js';
import * as server from './doctor/server.js';
import { labService, webhookEndpoint, clockOfService } from './doctor/service.js';
import { currentRelease, failingWorkflows, placingStop, pollers, reconciliation } from './doctor/workers.js';
import type { WorkerConfig } from './settings/config.js';

type Subject = DoctorConfig & { worker: WorkerConfig };

type Checks<Args extends unknown[]> = readonly (readonly [name: string, run: (...args: Args) => Promise<Verdict>])[];

const serverChecks: Checks<[server.Temporal]> = [
  ['Temporal version', server.serverVersion],
  ['namespace', server.namespaceRights],
];

const namespaceChecks: Checks<[server.Temporal, WorkerConfig]> = [
  ['search attributes', server.searchAttributes],
  ['retention', server.retention],
  ['encryption', encryption],
  ['encryption keys', encryptionKeys],
  ['reconciliation', reconciliation],
  ['workers', (temporal, { taskQueue }) => pollers(temporal, taskQueue)],
  ['workflow tasks', (temporal, { taskQueue }) => failingWorkflows(temporal, taskQueue)],
  ['placing', placingStop],
  ['release', (temporal, { deployment }) => currentRelease(temporal, deployment)],
];

const otherChecks: Checks<[Subject]> = [
  ['database', ({ worker }) => database(worker)],
  ['lab service', ({ worker }) => labService(worker.service)],
  ['clock', ({ worker }) => clockOfService(worker.service)],
  ['webhook endpoint', ({ worker, place, ingress }) => webhookEndpoint(worker.service, place, ingress?.webhookSecrets)],
  ['installations', ({ worker }) => installations(worker, () => server.connectTemporal(worker.temporal))],
  ['notifications', ({ worker }) => notificationTarget(worker.notify)],
  ['codec server', ({ worker, codec }) => codecServer(codec, worker.keyRing)],
];

/**
 * Checks a deployment from its settings, and changes nothing. Needs no running worker.
 *
 * @returns a finding for each check, those of the settings first
 */
export async function examine(config: DoctorConfig): Promise<Finding[]> {
  const { worker, findings } = config;
  if (!worker) {
    const names = [['Temporal'], ...serverChecks, ...namespaceChecks, ...otherChecks].map(([name = '']) => name);
    return [...findings, ...unchecked(names, 'the settings have faults')];
  }
  const [ofTemporal, others] = await Promise.all([examineTemporal(worker), runAll(otherChecks, { ...config, worker })]);
  return [...findings, ...ofTemporal, ...others];
}

async function examineTemporal(worker: WorkerConfig): Promise<Finding[]> {
  const { temporal: config } = worker;
  const namesOfNamespace = namespaceChecks.map(([name]) => name);
  let temporal: server.Temporal;
  try {
    temporal = await server.connectTemporal(config);
  } catch (error) {
    return [
      { check: 'Temporal', ...(await server.unreachable(config, error)) },
      ...unchecked([...serverChecks.map(([name]) => name), ...namesOfNamespace], 'Temporal cannot be reached'),
    ];
  }
  try {
    const reached = { check: 'Temporal', ...ok(`It answers at ${config.address}.`) };
    const ofServer = [reached, ...(await runAll(serverChecks, temporal))];
    const isUsable = ofServer.every(({ status }) => status !== 'fault');
    return [
      ...ofServer,
      ...(isUsable
        ? await runAll(namespaceChecks, temporal, worker)
        : unchecked(namesOfNamespace, 'the namespace cannot be used')),
    ];
  } finally {
    void temporal.connection.close();
  }
}

function runAll<Args extends unknown[]>(checks: Checks<Args>, ...args: Args): Promise<Finding[]> {
  return runChecks(checks.map(([name, run]) => ({ name, run: () => run(...args) })));
}

function unchecked(names: readonly string[], because: string): Finding[] {
  return names.map((check) => ({ check, ...notChecked(because) }));
}

/** `labops doctor`. Returns the exit status: 1 if there is a fault. */
export async function doctor(commandLine: CommandLine): Promise<number> {
  const findings = await examine(readDoctorConfig());
  const faults = findings.filter(({ status }) => status === 'fault').length;
  const warnings = findings.filter(({ status }) => status === 'warning').length;
  const inWords = () => [...linesOf(findings), '', summary(faults, warnings)].join('\n');
  commandLine.print({ faults, warnings, findings }, inWords, findings);
  return faults > 0 ? 1 : 0;
}

function summary(faults: number, warnings: number): string {
  const count = (number: number, name: string) => `${number} ${name}${number === 1 ? '' : 's'}`;
  return `${count(faults, 'fault')}, ${count(warnings, 'warning')}.`;
}
