import { createPayloadCodec } from '../../client/encryption/payload-codec.js';
import type { KeyRing } from '../../client/encryption/key-ring.js';
import { fetchThroughProxy, proxyFor, throughWhich } from '../../service/http/proxy.config.js';
import { headerFault } from '../../client/temporal.config.js';
import { isWebAddress } from '../../service/description.js';
import { undecryptedName } from '../encryption.js';
import { answerWithinMs, fault, notChecked, ok, reasonOf, type Verdict } from './findings.js';

/** The codec server as the Web UI and the `temporal` command line reach it. */
export interface CodecEndpoint {
  /** Without `/decode`. */
  url: string;
  /** The header, such as `Bearer …`. */
  authorization?: string;
}

/** Lets the codec server decrypt a payload that was made here: nobody looks at an encrypted history otherwise. */
export async function codecServer(endpoint: CodecEndpoint | undefined, keyRing?: KeyRing): Promise<Verdict> {
  if (!endpoint) return notChecked('TEMPORAL_CODEC_ENDPOINT is not set here');
  if (!keyRing) return notChecked('no keys are set here');
  const wrong = wrongSetting(endpoint);
  if (wrong) return wrong;
  let status: number | 'not decrypted' | 'undecryptable';
  try {
    status = await decode(endpoint, keyRing);
  } catch (error) {
    const remedy = 'Start it, or correct TEMPORAL_CODEC_ENDPOINT or the way to it (DNS, TLS, firewall).';
    return fault(
      `The codec server cannot be reached${throughWhich(proxyFor(endpoint.url))} (${reasonOf(error)}).`,
      remedy,
    );
  }
  if (status === 200) return ok('The codec server decrypts what is encrypted with the keys set here.');
  if (status === 'not decrypted') {
    const remedy = 'Set TEMPORAL_CODEC_ENDPOINT to the address of the codec server, without /decode.';
    return fault('What answers there takes the request and does not decrypt.', remedy);
  }
  if (status === 401) {
    return fault(
      'The codec server refuses the token.',
      'Set TEMPORAL_CODEC_AUTH to "Bearer " and the CODEC_TOKEN of the codec server.',
    );
  }
  if (status === 'undecryptable') {
    const remedy = 'Give it the LABOPS_ENCRYPTION_KEYS of the workers.';
    return fault('The codec server cannot decrypt what is encrypted with the keys set here.', remedy);
  }
  return fault(
    `The codec server answered ${status}.`,
    'Set TEMPORAL_CODEC_ENDPOINT to its address, without /decode, or look into its log.',
  );
}

/** Said before `fetch` does, whose messages repeat the value. */
function wrongSetting({ url, authorization = '' }: CodecEndpoint): Verdict | undefined {
  if (!isWebAddress(url)) {
    const remedy = 'Set it to the address of the codec server; its token belongs into TEMPORAL_CODEC_AUTH.';
    return fault('TEMPORAL_CODEC_ENDPOINT is not an http or https address without credentials.', remedy);
  }
  const problem = headerFault(authorization);
  return problem === undefined
    ? undefined
    : fault(`TEMPORAL_CODEC_AUTH ${problem}.`, 'Set it to "Bearer " and the CODEC_TOKEN.');
}

const asked = '"doctor"';

async function decode(
  { url, authorization }: CodecEndpoint,
  keyRing: KeyRing,
): Promise<number | 'not decrypted' | 'undecryptable'> {
  const plain = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(asked) };
  const base64 = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('base64');
  const payloads = (await createPayloadCodec(keyRing).encode([plain])).map(({ metadata, data }) => ({
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, bytes]) => [name, base64(bytes)])),
    data: base64(data),
  }));
  const response = await fetchThroughProxy(`${url.replace(/\/$/, '')}/decode`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) },
    body: JSON.stringify({ payloads }),
    redirect: 'manual',
    signal: AbortSignal.timeout(answerWithinMs / 2),
  });
  const text = await response.text();
  if (text.includes(undecryptedName)) return 'undecryptable';
  return response.status === 200 && !text.includes(base64(plain.data)) ? 'not decrypted' : response.status;
}
