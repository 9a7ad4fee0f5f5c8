import { apiReports } from './api-report.js';
import { attentionPage } from './attention-page.js';
import { chartValuesSchema } from './chart-values-schema.js';
import { commandsPage } from './commands-page.js';
import { errorsPage } from './errors-page.js';
import { jsonSchemas } from './json-schemas/json-schemas.js';
import { lifecyclePage } from './lifecycle-page.js';
import { metricsPage } from './metrics-page.js';
import { notificationsPage } from './notifications-page.js';
import { policiesPage } from './policies-page.js';
import { settingsPage } from './settings-page.js';

/** The generated pages, schemas and reports of the public types, by path. */
export async function generatedPages(projectFolder: string): Promise<ReadonlyMap<string, string>> {
  const schemas = await jsonSchemas(projectFolder);
  return new Map([
    ['docs/errors.md', await errorsPage(projectFolder)],
    ['docs/settings.md', settingsPage()],
    ['docs/lifecycle.md', await lifecyclePage()],
    ['docs/commands.md', commandsPage()],
    ['docs/attention.md', attentionPage()],
    ['docs/metrics.md', metricsPage()],
    ['docs/notifications.md', notificationsPage(schemas.get('client/schemas/notifications.json') ?? '')],
    ['docs/policies.md', await policiesPage(projectFolder)],
    ['deploy/chart/values.schema.json', chartValuesSchema()],
    ...(await apiReports(projectFolder)),
    ...schemas,
  ]);
}
