/** A file as a person chooses it. */
export interface ChosenFile {
  name: string;
  type: string;
  content: Buffer;
}

/** Somebody who uses the pages of a backend: without scripts, with cookies of their own. Pages, buttons and fields are named by their texts. */
export interface Visitor {
  open(path: string): Promise<void>;
  follow(link: string): Promise<void>;
  /** Fills in the form with this button, by the labels of its fields, and sends it. A choice is named by its text. */
  send(button: string, fields?: Readonly<Record<string, string | ChosenFile>>): Promise<void>;
  /** The path of the page. */
  path(): string;
  status(): number;
  text(): Promise<string>;
  /** The phase that the page shows; without one, its text. */
  phase(): Promise<string>;
  /** The address that a link leads to. */
  address(link: string): Promise<string>;
  /** What stands beside a field as its fault. */
  faultOf(label: string): Promise<string>;
  download(link: string): Promise<Buffer>;
  /** The page as it is now, left open with its scripts: its phase changes by itself. */
  leaveOpen(): Promise<{ phase(): Promise<string> }>;
}
