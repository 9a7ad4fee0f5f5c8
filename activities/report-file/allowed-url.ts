import { ReportFileRefused } from './errors.js';

/**
 * Reads the address of a file, a relative one against the URL that named it. Throws ReportFileRefused for addresses
 * that are never fetched; whether the host may be reached is checked elsewhere.
 */
export function allowedUrl(text: string, from?: URL): URL {
  if (text === '' || !URL.canParse(text, from?.href)) throw notAllowed('it leads to something that is not a URL');
  const url = new URL(text, from);
  if (!/^https?:$/.test(url.protocol)) throw notAllowed('it must be http or https');
  if (url.username + url.password !== '') throw notAllowed('it must not carry a user name or password');
  if (from?.protocol === 'https:' && url.protocol === 'http:') throw notAllowed('it leads from https to http');
  return url;
}

function notAllowed(problem: string): ReportFileRefused {
  return new ReportFileRefused('url_not_allowed', problem);
}
