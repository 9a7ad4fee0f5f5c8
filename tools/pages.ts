import { errorsPage } from './errors-page.js';
import { settingsPage } from './settings-page.js';

/** The generated pages, by path. */
export async function generatedPages(projectFolder: string): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/errors.md', await errorsPage(projectFolder)],
    ['docs/settings.md', settingsPage()],
  ]);
}
