import { cancellationSignal, sleep } from '@temporalio/activity';
import { ServiceError, ServiceUnreachable, Unauthorized } from '../../service/errors.js';
import type { LabService } from '../../service/lab-service.js';
import type { LinkTokenRequest } from '../../service/link/link.js';
import { linkResultOf } from '../../protocol/link/link-report.js';
import type { LinkPage } from '../../protocol/link/messages.js';
import type { LinkReport } from '../../protocol/link/link-report.js';
import type { ActivityDependencies } from '../dependencies.js';
import { heartbeating } from '../attempt.js';
import { asFailures, unreadableIfRefused } from '../failures.js';
import { connectionsOf, findConnection, type ConnectionFound, type ConnectionQuery } from './connections.js';
import { hasEndpoint } from '../notifications/notifications.js';
import { omitNullish } from '../../service/json-object.js';

interface CreateLinkToken extends LinkPage {
  userId: string;
  /** Without one the user chooses it on the page. */
  provider?: string;
  /** Answers with the user's connections before the token, so none of them is taken for one that it made. */
  readsConnections?: boolean;
}

interface SubmitCode extends ConnectionQuery {
  provider: string;
  linkToken: string;
  code: string;
}

/** A second token or a repeated read does no harm, so neither waits for an earlier call to settle. */
const noSettling = 0;

export function linkActivities({ service, target }: Pick<ActivityDependencies, 'service' | 'target'>) {
  return {
    /** The token and its page are credentials: they go to the caller, and nowhere else. */
    async createLinkToken(link: CreateLinkToken) {
      const request = tokenRequestOf(link);
      return asFailures(
        'LinkRefused',
        async () => {
          const connections =
            link.readsConnections === true
              ? await unreadableIfRefused(() => connectionsOf(service, link.userId))
              : undefined;
          const { link_token: linkToken, link_web_url: linkWebUrl } = await service.links.createToken(request);
          return { linkToken, linkWebUrl, notifies: hasEndpoint(target), ...(connections && { connections }) };
        },
        noSettling,
      );
    },

    /** Submits the code, once. After a success it looks for the connection at once, which saves an activity. */
    async completeMfa(input: SubmitCode): Promise<{ report: LinkReport; connection?: ConnectionFound }> {
      return heartbeating(async () => {
        const report = await asFailures('LinkRefused', () => sendCode(service, input));
        return report.state === 'success' ? { report, ...(await connectionIfReadable(service, input)) } : { report };
      });
    },

    async findConnection(query: ConnectionQuery): Promise<ConnectionFound & { notifies: boolean }> {
      const found = await asFailures('LinkRefused', () => findConnection(service, query), noSettling);
      return { ...found, notifies: hasEndpoint(target) };
    },
  };
}

function tokenRequestOf(link: CreateLinkToken): LinkTokenRequest {
  const { userId, provider, redirectUrl, filterOnProviders, onError, onClose } = link;
  return {
    user_id: userId,
    ...omitNullish({
      provider,
      redirect_url: redirectUrl,
      filter_on_providers: filterOnProviders,
      on_error: onError,
      on_close: onClose,
    }),
  };
}

async function sendCode(service: LabService, { provider, linkToken, code }: SubmitCode): Promise<LinkReport> {
  try {
    const answer = await retryWhileUnreachable(() =>
      service.links.completeMfa(provider, linkToken, code, { signal: cancellationSignal() }),
    );
    return linkResultOf(answer) ?? { state: 'unrecognised' };
  } catch (error) {
    // The key of this call is the link token, not the team's key.
    if (error instanceof Unauthorized) return { state: 'error', errorType: 'invalid_token' };
    throw error;
  }
}

/** Seconds between attempts: 20 in all, then the user gets the error. */
const pauses = [1, 2, 4, 6, 7] as const;

/** A refused connection has sent nothing: only then may the same code be sent again. */
async function retryWhileUnreachable<T>(call: () => Promise<T>): Promise<T> {
  for (const pause of pauses) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ServiceUnreachable)) throw error;
    }
    await sleep(pause * 1000);
  }
  return call();
}

/** If the read fails, it is repeated later: the success itself must not be lost. */
async function connectionIfReadable(
  service: LabService,
  query: ConnectionQuery,
): Promise<{ connection?: ConnectionFound }> {
  try {
    return { connection: await findConnection(service, query) };
  } catch (error) {
    if (error instanceof ServiceError) return {};
    throw error;
  }
}
