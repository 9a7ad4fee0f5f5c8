import { readFile } from 'node:fs/promises';
import { chromium, type BrowserContext, type Locator, type Page } from 'playwright-core';
import { patienceMs } from '../rig/patience.js';
import type { ChosenFile, Visitor } from './visitor.js';

export interface BrowserVisitors {
  visitor(baseURL: string): Promise<Visitor>;
  close(): Promise<void>;
}

/**
 * Visitors in a real browser, each with a profile of their own.
 *
 * @param addresses takes those of all pages that they open
 */
export async function browserVisitors(executablePath: string, addresses: string[]): Promise<BrowserVisitors> {
  // In a container the browser runs as root, which its sandbox refuses; it opens the example's own pages only.
  const browser = await chromium.launch({ executablePath, chromiumSandbox: false });
  return {
    visitor: async (baseURL) => {
      const context = await browser.newContext({ baseURL, javaScriptEnabled: false });
      context.setDefaultTimeout(patienceMs);
      const page = await context.newPage();
      page.on('framenavigated', (frame) => addresses.push(frame.url()));
      return visitorIn(context, page);
    },
    close: () => browser.close(),
  };
}

function visitorIn(context: BrowserContext, page: Page): Visitor {
  let status = 0;
  page.on('response', (response) => {
    if (response.request().isNavigationRequest()) status = response.status();
  });
  const link = (text: string) => page.getByRole('link', { name: text, exact: true });
  const pageAfter = async (act: () => Promise<unknown>) => {
    await Promise.all([page.waitForEvent('domcontentloaded', { timeout: patienceMs }), act()]);
  };
  return {
    open: async (path) => void (await page.goto(path)),
    follow: (text) => pageAfter(() => link(text).click()),
    send: async (button, fields = {}) => {
      const submit = page.getByRole('button', { name: button, exact: true });
      const form = page.locator('form').filter({ has: submit });
      for (const [label, value] of Object.entries(fields)) await fill(labelled(form, label), value);
      await pageAfter(() => submit.click());
    },
    path: () => new URL(page.url()).pathname,
    status: () => status,
    text: () => page.locator('body').innerText(),
    phase: async () => {
      const [phase] = await page.locator('#phase').allInnerTexts();
      return phase ?? page.locator('body').innerText();
    },
    address: async (text) => (await link(text).getAttribute('href')) ?? '',
    faultOf: async (label) => labelled(page.locator('form'), label).locator('.fault').innerText(),
    download: async (text) => {
      const [download] = await Promise.all([page.waitForEvent('download'), link(text).click()]);
      return readFile(await download.path());
    },
    leaveOpen: () => leaveOpen(context, page),
  };
}

/** The label with this text, and its field. */
function labelled(form: Locator, text: string): Locator {
  return form.locator('label').filter({ has: form.page().getByText(text, { exact: true }) });
}

async function fill(label: Locator, value: string | ChosenFile): Promise<void> {
  const select = label.locator('select');
  const input = label.locator('input, textarea');
  if (typeof value !== 'string') {
    await input.setInputFiles({ name: value.name, mimeType: value.type, buffer: value.content });
  } else if ((await select.count()) > 0) await select.selectOption({ label: value });
  else if ((await input.getAttribute('type')) === 'checkbox') await input.check();
  else await input.fill(value);
}

/** The same page in another window, in which scripts run. */
async function leaveOpen(context: BrowserContext, page: Page) {
  const { origin } = new URL(page.url());
  const browser = context.browser();
  if (!browser) throw new Error('The browser was closed.');
  const scripted = await browser.newContext({ baseURL: origin, storageState: await context.storageState() });
  scripted.setDefaultTimeout(patienceMs);
  const open = await scripted.newPage();
  await open.goto(page.url());
  return { phase: () => open.locator('#phase').innerText() };
}
