import { isObject, omitNullish } from './json-object.js';
import type { LabService } from './lab-service.js';

/** A record that somebody was shown what is known of a person. It contains nothing of what was shown. */
export interface ReadRecord {
  /** ISO 8601 in UTC. */
  at: string;
  /** Who read, if that is known. */
  actor?: string;
  /** The call, such as `orders.results` or `healthData.samples`. */
  what: string;
  /** The id of what was read: an order, a transaction, a user, a parsing job or an unmatched result. A list without a user has none. */
  subject?: string;
}

export type OnRead = (record: ReadRecord) => void | Promise<void>;

type Report = (what: string, subject: unknown) => void;

/** Calls `onRead` for each read. If it fails, the read goes on with a warning: the store of such records may be down for a while. */
export function reporterOf({ onRead, actor }: { onRead?: OnRead | undefined; actor?: string | undefined }): Report {
  return (what, subject) => {
    const at = new Date().toISOString();
    const record: ReadRecord = omitNullish({
      at,
      actor,
      what,
      subject: typeof subject === 'string' ? subject : undefined,
    });
    // It has the record before the caller has the answer.
    void (async () => onRead?.(record))().catch((error: unknown) => {
      process.emitWarning(`A read (${what}) was not recorded: onRead failed`, {
        type: 'LabOperationsWarning',
        code: 'LABOPS_READ_NOT_RECORDED',
        detail: String(error),
      });
    });
  };
}

/** @returns the subject of a read, by what was asked and by the answer, which a list does not have yet */
type SubjectOf = (asked: unknown, answer: unknown) => unknown;

const named: SubjectOf = (asked) => asked;
const userIn: SubjectOf = (asked) => (isObject(asked) ? asked['userId'] : undefined);
const answeredUser: SubjectOf = (_asked, answer) => {
  const { user = answer } = isObject(answer) ? answer : {};
  return isObject(user) ? user['user_id'] : undefined;
};

const documents = {
  results: named,
  transactionResults: named,
  requisition: named,
  collectionInstructions: named,
  beneficiaryNotice: named,
  specimenLabels: named,
};

/** The calls whose answers say something of a person. */
const reads: { readonly [Area in keyof LabService]?: { readonly [Name in keyof LabService[Area]]?: SubjectOf } } = {
  orders: { get: named, list: userIn, results: named, transactionResults: named },
  documents,
  users: { get: named, list: userIn, resolve: answeredUser, create: answeredUser, getDemographics: named },
  reports: { getJob: named },
  matchReviews: { get: named, list: userIn },
  providers: { connectionsOf: named },
};

/** The same service, which reports reads: each once it has been answered, a list when it is begun. */
export function withReads(service: LabService, report: Report): LabService {
  const areas = Object.entries(reads).map(([area, subjects]) => [
    area,
    recorded(area, service[area as keyof LabService], subjects, report),
  ]);
  const streams = recorded('documents.streams', service.documents.streams, documents, report);
  const all = { ...service, ...(Object.fromEntries(areas) as Partial<LabService>) };
  return { ...all, documents: { ...all.documents, streams } };
}

type Call = (...args: unknown[]) => unknown;

function recorded<Calls extends object>(area: string, calls: Calls, subjects: object, report: Report): Calls {
  const observed = (Object.entries(subjects) as [string, SubjectOf][]).map(([name, subjectOf]) => {
    const call = (calls as Record<string, Call>)[name] as Call;
    const reportRead = (asked: unknown, answer?: unknown) => report(`${area}.${name}`, subjectOf(asked, answer));
    const observing: Call = (...args) => {
      const answer = call(...args);
      if (answer instanceof Promise) return reportedOnce(answer, (value) => reportRead(args[0], value));
      reportRead(args[0]);
      return answer;
    };
    return [name, observing] as const;
  });
  return { ...calls, ...Object.fromEntries(observed) };
}

async function reportedOnce<T>(answer: Promise<T>, reportRead: (answered: T) => void): Promise<T> {
  const answered = await answer;
  reportRead(answered);
  return answered;
}
