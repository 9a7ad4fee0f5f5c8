import type { ChosenFile, Visitor } from './visitor.js';

/** A visitor without a browser: reads the pages, fills in the forms, keeps cookies and follows redirects. */
export class HttpVisitor implements Visitor {
  readonly #baseUrl: string;
  readonly #addresses: string[];
  #cookie = '';
  #path = '/';
  #status = 0;
  #page = '';

  /** @param addresses takes those of all pages that are opened */
  constructor(baseUrl: string, addresses: string[]) {
    this.#baseUrl = baseUrl;
    this.#addresses = addresses;
  }

  async open(path: string): Promise<void> {
    const response = await this.#request(path);
    this.#status = response.status;
    this.#page = await response.text();
  }

  follow(link: string): Promise<void> {
    return this.address(link).then((path) => this.open(path));
  }

  async send(button: string, fields: Readonly<Record<string, string | ChosenFile>> = {}): Promise<void> {
    const form = formsOf(this.#page).find((each) => textOf(each).trimEnd().endsWith(button));
    if (form === undefined) throw new Error(`There is no form with the button ${button}:\n${this.#page}`);
    const body = bodyOf(form, fields);
    const isUpload = form.includes('enctype="multipart/form-data"');
    const entries = [...body].map(([name, value]): [string, string] => [name, value as string]);
    const response = await this.#request(attribute(form, 'action') ?? '', {
      method: 'POST',
      body: isUpload ? body : new URLSearchParams(entries),
    });
    this.#status = response.status;
    this.#page = await response.text();
  }

  path(): string {
    return this.#path;
  }

  status(): number {
    return this.#status;
  }

  text(): Promise<string> {
    return Promise.resolve(textOf(this.#page));
  }

  phase(): Promise<string> {
    const [, phase] = /id="phase">([^<]*)</.exec(this.#page) ?? [];
    return phase === undefined ? this.text() : Promise.resolve(phase);
  }

  address(link: string): Promise<string> {
    const links = this.#page.match(/<a [^]*?<\/a>/g) ?? [];
    const found = links.find((each) => textOf(each).trim() === link);
    if (found === undefined) throw new Error(`There is no link ${link}:\n${this.#page}`);
    return Promise.resolve(attribute(found, 'href') ?? '');
  }

  /** The choices of a field. */
  choices(label: string): Promise<string[]> {
    const found = formsOf(this.#page).flatMap((form) => labelled(form, label) ?? []);
    const texts = optionsOf(found[0] ?? '').map(({ text }) => text);
    return Promise.resolve(texts.filter((text) => text !== ''));
  }

  faultOf(label: string): Promise<string> {
    const found = formsOf(this.#page).flatMap((form) => labelled(form, label) ?? []);
    return Promise.resolve(textOf(/<strong class="fault">([^]*?)<\/strong>/.exec(found.join(''))?.[1] ?? ''));
  }

  async download(link: string): Promise<Buffer> {
    const response = await this.#request(await this.address(link), {}, false);
    return Buffer.from(await response.arrayBuffer());
  }

  /** What a script of the page posts. */
  async post(path: string, body: unknown): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    await this.#request(path, { method: 'POST', body: JSON.stringify(body), headers }, false);
  }

  /** What the page's script listens to. */
  async leaveOpen(): Promise<{ phase(): Promise<string> }> {
    const { body } = await this.#request(`${this.#path}/events`, {}, false);
    let received = '';
    void (async () => {
      for await (const chunk of body ?? []) received += Buffer.from(chunk as Uint8Array).toString();
    })().catch(() => undefined);
    return { phase: () => Promise.resolve(received.match(/(?<=^data: ).+$/gm)?.at(-1) ?? '') };
  }

  async #request(path: string, init: RequestInit = {}, moves = true): Promise<Response> {
    this.#addresses.push(path);
    const headers = { ...(init.headers as Record<string, string> | undefined), cookie: this.#cookie };
    const response = await fetch(new URL(path, this.#baseUrl), { ...init, headers, redirect: 'manual' });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) this.#cookie = set.split(';', 1)[0] ?? '';
    const next = response.headers.get('location');
    if (moves) this.#path = new URL(path, this.#baseUrl).pathname;
    return next === null ? response : this.#request(next, {}, moves);
  }
}

function formsOf(page: string): string[] {
  return page.match(/<form\b[^]*?<\/form>/g) ?? [];
}

/** What a browser would send: hidden fields, the fields as they are filled in, and the first choice where none was made. */
function bodyOf(form: string, fields: Readonly<Record<string, string | ChosenFile>>): FormData {
  const body = new FormData();
  for (const hidden of form.match(/<input\s+type="hidden"[^]*?>/g) ?? []) {
    body.append(attribute(hidden, 'name') ?? '', attribute(hidden, 'value') ?? '');
  }
  const labels = form.match(/<label>[^]*?<\/label>/g) ?? [];
  const unknown = Object.keys(fields).filter((name) => labelled(form, name) === undefined);
  if (unknown.length > 0) throw new Error(`The form has no field ${unknown.join(', ')}:\n${form}`);
  for (const label of labels) {
    const [control = ''] = /<(?:input|select|textarea)\b[^]*?>/.exec(label) ?? [];
    const name = attribute(control, 'name') ?? '';
    const value = fields[captionOf(label)];
    if (typeof value === 'object') {
      body.append(name, new Blob([new Uint8Array(value.content)], { type: value.type }), value.name);
    } else if (control.startsWith('<select')) body.append(name, choiceOf(label, value));
    else if (control.includes('type="checkbox"')) body.append(name, value === undefined ? '' : 'yes');
    else body.append(name, value ?? contentOf(label, control));
  }
  return body;
}

function contentOf(label: string, control: string): string {
  const [, area] = /<textarea[^>]*>([^]*?)<\/textarea>/.exec(label) ?? [];
  return unescaped(area ?? attribute(control, 'value') ?? '');
}

function choiceOf(label: string, text: string | undefined): string {
  const options = optionsOf(label);
  const chosen = text === undefined ? options.find(({ isSelected }) => isSelected) : undefined;
  const found = text === undefined ? (chosen ?? options[0]) : options.find((option) => option.text === text);
  if (found === undefined) throw new Error(`There is no choice ${text}:\n${label}`);
  return found.value;
}

function optionsOf(label: string) {
  return (label.match(/<option\b[^]*?<\/option>/g) ?? []).map((option) => ({
    value: attribute(option, 'value') ?? '',
    text: textOf(option).trim(),
    isSelected: /^<option[^>]*\bselected\b/.test(option),
  }));
}

function labelled(form: string, text: string): string | undefined {
  return form.match(/<label>[^]*?<\/label>/g)?.find((label) => captionOf(label) === text);
}

function captionOf(label: string): string {
  return textOf(/<span>([^]*?)<\/span>/.exec(label)?.[1] ?? '').trim();
}

function attribute(element: string, name: string): string | undefined {
  const [, value] = new RegExp(`\\s${name}="([^"]*)"`).exec(element) ?? [];
  return value === undefined ? undefined : unescaped(value);
}

function textOf(page: string): string {
  const body = page.replaceAll(/<(style|script|title)\b[^]*?<\/\1>/g, '');
  return unescaped(body.replaceAll(/<[^>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function unescaped(text: string): string {
  return text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}
