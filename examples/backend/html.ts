import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';

/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Part = Html | Html[] | string | number | boolean | undefined | null;

/** HTML in which every value is escaped, unless it is HTML itself. */
export function html(texts: TemplateStringsArray, ...values: Part[]): Html {
  return new Html(texts.map((text, index) => text + written(values[index])).join(''));
}

function written(value: Part): string {
  if (value === undefined || value === null || value === false) return '';
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(written).join('');
  return String(value).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A link to somebody else's address, if it is a web address: `javascript:` would run in the page. */
export function webLink(url: string, text: string): Part {
  const isOfWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return isOfWeb ? html`<a href="${url}" rel="noreferrer">${text}</a>` : text;
}

const inlined = { style: new Set<string>(), script: new Set<string>() };

/** A style or script of ours, in the page: browsers run no other one. */
export function inline(kind: keyof typeof inlined, code: string): Html {
  inlined[kind].add(`'sha256-${createHash('sha256').update(code).digest('base64')}'`);
  return new Html(`<${kind}>${code}</${kind}>`);
}

function policy(): string {
  const sources = (['style', 'script'] as const).map(
    (kind) => `${kind}-src ${[...inlined[kind]].join(' ') || "'none'"}`,
  );
  const own = "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
  return ["default-src 'none'", ...sources, own].join('; ');
}

/** Who a page is for, which decides the pages that it links to. */
export type Audience = 'customer' | 'staff' | 'nobody';

const links: Record<Audience, readonly (readonly [path: string, text: string])[]> = {
  customer: [
    ['/', 'Orders'],
    ['/links', 'Devices'],
    ['/health', 'Health data'],
    ['/reports', 'Reports'],
    ['/account', 'Account'],
  ],
  staff: [
    ['/staff', 'What needs you'],
    ['/staff/imports', 'Import an order'],
    ['/staff/webhooks', 'Webhook endpoints'],
  ],
  nobody: [],
};

export interface PageOptions {
  audience?: Audience;
  status?: number;
}

/** Answers with a page. It is kept nowhere: somebody else may use the browser next. */
export function show(reply: FastifyReply, title: string, content: Part, options: PageOptions = {}): FastifyReply {
  const { audience = 'customer', status = 200 } = options;
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .header('content-security-policy', policy())
    .type('text/html; charset=utf-8')
    .send(page(title, content, audience));
}

function page(title: string, content: Part, audience: Audience): string {
  const pages = links[audience].map(([path, text]) => html`<a href="${path}">${text}</a> `);
  const signOut = html`<form method="post" action="/sign-out"><button class="quiet">Sign out</button></form>`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title}</title>
        ${style}
      </head>
      <body>
        ${audience !== 'nobody' && html`<nav>${pages} ${signOut}</nav>`}
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`.text;
}

const style = inline(
  'style',
  `
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 45rem; margin: 0 auto; padding: 1rem; color: #222; }
  nav { display: flex; flex-wrap: wrap; gap: 1rem; align-items: center; border-bottom: 1px solid #ccc; padding-bottom: .5rem; }
  nav form { margin: 0 0 0 auto; }
  main form { margin: 1rem 0; }
  td form { margin: 0; }
  fieldset { border: 1px solid #ccc; border-radius: .25rem; margin: 1rem 0; }
  label { display: block; margin: .5rem 0; }
  label > span { display: block; }
  input[type=checkbox] + span { display: inline; }
  input, select, textarea { font: inherit; width: 100%; max-width: 24rem; box-sizing: border-box; padding: .25rem .5rem; }
  input[type=checkbox] { width: auto; margin-right: .5rem; }
  [aria-invalid] { border: 2px solid #b00020; }
  .fault, .warning { color: #b00020; }
  small { display: block; color: #555; }
  button { font: inherit; padding: .25rem 1rem; }
  .quiet { background: none; border: 0; padding: 0; color: inherit; text-decoration: underline; cursor: pointer; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; padding: .25rem .5rem; border-bottom: 1px solid #ddd; vertical-align: top; }
  td { overflow-wrap: anywhere; }
`,
);

/** A table, or a sentence if it has no rows. */
export function table(columns: readonly string[], rows: readonly (readonly Part[])[], none: string): Html {
  if (rows.length === 0) return html`<p>${none}</p>`;
  return html`<table>
    <thead>
      <tr>
        ${columns.map((column) => html`<th>${column}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            ${row.map((cell) => html`<td>${cell}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** Where something stands, as a person reads it: `awaiting_registration` is "awaiting registration". */
export function phaseLine(phase: string): Html {
  return html`<p><strong id="phase">${words(phase)}</strong></p>`;
}

export function words(name: string): string {
  return name.replaceAll('_', ' ');
}

/** A moment as a clock shows it in a zone, by default in UTC. */
export function moment(iso: string, timeZone = 'UTC'): string {
  return new Intl.DateTimeFormat('en-GB', {
    ...{ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
    timeZone,
    timeZoneName: 'short',
  }).format(new Date(iso));
}
