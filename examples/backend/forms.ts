import { html, type Html, type Part } from './html.js';
import type { Problem } from './problems.js';

export interface Field {
  name: string;
  label: string;
  /** Of an `input`; `area` is a text of several lines, `check` a box to tick. Default `text`. */
  type?: 'text' | 'date' | 'email' | 'tel' | 'number' | 'password' | 'file' | 'area' | 'check';
  hint?: string;
  value?: string;
  /** Default true. */
  required?: boolean;
  options?: readonly Option[];
  /** What browsers fill in. */
  autocomplete?: string;
}

export interface Option {
  value: string;
  text: string;
}

export interface FormOptions {
  fields?: readonly Field[];
  hidden?: Readonly<Record<string, string>>;
  /** What was entered before, and what is wrong with it. */
  entered?: Readonly<Record<string, string>>;
  problem?: Problem | undefined;
  /** Above the fields. */
  above?: Part;
}

/** A form that is posted. Each fault of the problem stands beside its field; the others stand above them. */
export function form(action: string, button: string, options: FormOptions = {}): Html {
  const { fields = [], hidden = {}, entered = {}, problem, above } = options;
  const faults = problem?.fields ?? [];
  // In your backend: words of yours for each `code`. The sentence is for its developers, and names the fields once more.
  const sentence = faults.length > 0 ? 'Please correct this:' : problem?.sentence;
  const names = new Set(fields.map(({ name }) => name));
  const elsewhere = faults.filter(({ field }) => !names.has(lastPart(field)));
  const multipart = fields.some(({ type }) => type === 'file');
  return html`<form method="post" action="${action}" ${multipart && html`enctype="multipart/form-data"`}>
    ${problem && html`<p role="alert" class="fault">${sentence}</p>`}
    ${elsewhere.map(({ field, message }) => html`<p class="fault">${field} ${message}</p>`)} ${above}
    ${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${fields.map((field) => labelled(field, entered[field.name] ?? field.value ?? '', faultOf(field, problem)))}
    <button>${button}</button>
  </form>`;
}

function faultOf({ name }: Field, problem: Problem | undefined): string | undefined {
  return problem?.fields.find(({ field }) => lastPart(field) === name)?.message;
}

/** A fault names its field with the way to it, as `order.patient_details.dob`. */
function lastPart(field: string): string {
  return field.split('.').at(-1) ?? '';
}

function labelled(field: Field, value: string, fault: string | undefined): Html {
  const { label, hint, type } = field;
  const note = html`${hint !== undefined && html`<small>${hint}</small>`}
  ${fault !== undefined && html`<strong class="fault">${fault}</strong>`}`;
  if (type === 'check') return html`<label>${control(field, value, fault)}<span>${label}</span> ${note}</label>`;
  return html`<label><span>${label}</span>${control(field, value, fault)} ${note}</label>`;
}

function control(field: Field, value: string, fault: string | undefined): Html {
  const { name, type = 'text', required = true, options, autocomplete } = field;
  const common = html`name="${name}" ${required && html`required`} ${fault !== undefined && html`aria-invalid="true"`}
  ${autocomplete !== undefined && html`autocomplete="${autocomplete}"`}`;
  if (options)
    return html`<select ${common}>
      ${choices(options, value, required)}
    </select>`;
  if (type === 'area') return html`<textarea ${common} rows="3">${value}</textarea>`;
  if (type === 'check') return html`<input type="checkbox" value="yes" ${common} />`;
  // A browser fills in neither a file nor a password that was sent before.
  if (type === 'file' || type === 'password') return html`<input type="${type}" ${common} />`;
  return html`<input type="${type}" value="${value}" ${type === 'number' && html`step="any"`} ${common} />`;
}

function choices(options: readonly Option[], value: string, required: boolean): Html[] {
  // Nothing is chosen for a person who has a choice.
  const none = required && options.length === 1 ? [] : [{ value: '', text: '' }];
  return [...none, ...options].map(
    (option) =>
      html`<option value="${option.value}" ${option.value === value && html`selected`}>${option.text}</option>`,
  );
}
