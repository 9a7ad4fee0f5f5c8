import {
  type CloudEvent,
  createNotificationHandler,
  type NotificationHandler,
} from '../../client/notifications/index.js';
import { notificationTypes } from '../../protocol/notifications/events.js';
import { schemaFaults } from './json-schemas.js';

export interface RecordingHandler extends NotificationHandler {
  /** @throws Error if the worker sent what a product would refuse, what no published schema describes, or a type that the client does not know */
  expectGenuine(): void;
}

/** A product's notification handler that hands everything to `record`. */
export function recordingHandler(secret: string, record: (event: CloudEvent) => void): RecordingHandler {
  const unknown = new Set<string>();
  const faults = new Set<string>();
  const handler = createNotificationHandler({
    secrets: [secret],
    on: {},
    logger: false,
    onOther: (event) => {
      if (!Object.hasOwn(notificationTypes, event.type)) unknown.add(event.type);
      for (const fault of schemaFaults('notifications', event.type, event)) faults.add(fault);
      record(event);
    },
  });
  return {
    ...handler,
    expectGenuine() {
      if (unknown.size > 0) throw new Error(`Missing in notificationTypes: ${[...unknown].join(', ')}`);
      if (faults.size > 0) throw new Error(`client/schemas/notifications.json: ${[...faults].join('; ')}`);
      const refusals = Object.entries(handler.counts().answers).filter(
        ([name, times]) => times > 0 && refused.has(name),
      );
      if (refusals.length > 0) throw new Error(`Notifications were refused: ${JSON.stringify(refusals)}`);
    },
  };
}

/** Logs neither a connection that broke, nor a story that makes its receiver fail. */
const refused: ReadonlySet<string> = new Set([
  'method_not_allowed',
  'headers_missing',
  'timestamp_unreadable',
  'timestamp_stale',
  'body_too_large',
  'signature_mismatch',
  'not_json',
  'not_an_object',
  'not_an_event',
  'internal_error',
]);
