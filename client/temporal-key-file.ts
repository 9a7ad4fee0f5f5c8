import { SecretFileInvalid, secretOf } from './files.js';

/** A replaced key stays valid until somebody disables it, so a few seconds more do not matter. */
const readAgainMs = 10_000;

/** A connection to Temporal, of either kind of the SDK. */
interface KeyedConnection {
  setApiKey(key: string): void | Promise<void>;
}

/** Notices of what becomes of the file, for a log. */
interface KeyFileObserver {
  /** The connection has a new key. */
  replaced(): void;
  /** The file cannot be read, or holds no key: the last one counts. `fault` follows the name of the setting; it quotes nothing. */
  unreadable(fault: string): void;
}

/** The key that the connection was made with, and the file that TEMPORAL_API_KEY_FILE names, if there is one. */
interface FollowedKey {
  apiKey?: string | undefined;
  file: string | undefined;
}

/**
 * Reads the file of TEMPORAL_API_KEY_FILE again every ten seconds, and gives a changed key to the connection, so a key can be
 * replaced without a restart. Without such a file it does nothing.
 *
 * @returns what ends it; it does not keep a process alive
 */
export function followKeyFile(
  connection: KeyedConnection,
  { apiKey, file }: FollowedKey,
  observer?: KeyFileObserver,
): () => void {
  if (file === undefined) return () => undefined;
  let key = apiKey;
  let fault: string | undefined;
  const look = (): void => {
    try {
      const now = readKeyFile(file);
      fault = undefined;
      if (now === key) return;
      key = now;
      void connection.setApiKey(now);
      observer?.replaced();
    } catch (error) {
      if (!(error instanceof SecretFileInvalid)) throw error;
      // Said once, not every ten seconds. The key that was read before may be good for months.
      if (error.problem !== fault) observer?.unreadable(error.problem);
      fault = error.problem;
    }
  };
  const timer = setInterval(look, readAgainMs).unref();
  return () => clearInterval(timer);
}

function readKeyFile(file: string): string {
  const key = secretOf({ TEMPORAL_API_KEY_FILE: file }, 'TEMPORAL_API_KEY') ?? '';
  if (headerFault(key) !== undefined)
    throw new SecretFileInvalid('TEMPORAL_API_KEY', `holds a key that ${headerFault(key)}`);
  return key;
}

/**
 * A value that gRPC cannot send as a header, as a text that follows its name. gRPC's own error quotes the value, and would put a key into
 * logs and answers.
 */
export function headerFault(value: string): string | undefined {
  return /^[\x20-\x7e]*$/.test(value) ? undefined : 'must be printable ASCII, on one line';
}
