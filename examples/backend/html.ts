/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | Html[] | string | number | boolean | undefined | null;

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

export function page(title: string, content: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      <title>${title}</title>
      <style>
        body {
          font:
            16px/1.5 system-ui,
            sans-serif;
          max-width: 45rem;
          margin: 2rem auto;
        }
        label {
          display: block;
        }
      </style>
      <h1>${title}</h1>
      ${content}
    </html>`.text;
}

/** A form with a text field for each name. */
export function form(action: string, button: string, fields: readonly string[] = [], rest?: Html): Html {
  const inputs = fields.map((name) => html`<label>${name.replaceAll('_', ' ')} <input name="${name}" /></label>`);
  return html`<form method="post" action="${action}">${inputs}${rest}<button>${button}</button></form>`;
}
