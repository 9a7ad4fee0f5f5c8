import type { Logger as TemporalLogger, LogLevel } from '@temporalio/common';
import { type DestinationStream, type Logger, pino } from 'pino';

/** Names under which secrets or personal data travel; whatever stands under one of them is not written. */
const confidential = [
  // Secrets. Headers as a whole: the brand word makes the names of the key headers unknowable here.
  ...['headers', 'authorization', 'apiKey', 'api_key', 'managementKey', 'secret', 'secrets', 'webhookSecrets'],
  ...['token', 'linkToken', 'link_token', 'linkUrl', 'link_web_url', 'portalUrl', 'password', 'mfa_code', 'mfaCode'],
  // Persons, in the service's words.
  ...[
    'patient',
    'patient_details',
    'patient_address',
    'shipping_details',
    'physician',
    'registration',
    'client_user_id',
  ],
  ...['clientUserId', 'first_name', 'last_name', 'receiver_name', 'email', 'phone_number', 'dob', 'gender', 'notes'],
  // Health data and whole bodies.
  ...['body', 'order', 'data', 'results'],
];

/** Redaction is by path, so each name is covered at the top and one and two levels below it. */
const redactedPaths = confidential.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** One JSON line for each event, on standard output unless told otherwise. */
export function createLog(level: string, name: string, destination?: DestinationStream): Logger {
  const options = { name, level, redact: { paths: redactedPaths, censor: '[redacted]' } };
  return destination ? pino(options, destination) : pino(options);
}

const pinoLevels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** What the Temporal SDK writes, its native part, workflows and activities included, goes to the same log. */
export function temporalLogger(log: Logger): TemporalLogger {
  const write = (level: LogLevel, message: string, fields: Record<string, unknown> = {}) => {
    const { error, ...rest } = fields;
    // pino writes an error out under `err` only.
    log[pinoLevels[level]](error === undefined ? rest : { ...rest, err: error }, message);
  };
  return {
    log: write,
    trace: (message, fields) => write('TRACE', message, fields),
    debug: (message, fields) => write('DEBUG', message, fields),
    info: (message, fields) => write('INFO', message, fields),
    warn: (message, fields) => write('WARN', message, fields),
    error: (message, fields) => write('ERROR', message, fields),
  };
}
