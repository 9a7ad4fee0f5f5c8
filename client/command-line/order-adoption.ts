import type { Command } from 'commander';
import { canonicalId, isAddressable, isReference, referencePattern } from '../../protocol/ids.js';
import { LabOperationsError, type RefusedField } from '../../service/lab-operations-error.js';
import type { AdoptedOrder, AdoptOrder } from '../order/adopting.js';
import type { CommandLine } from './command-line.js';
import { failureReport, NotAllChanged, UsageError, type FailureReport } from './failures.js';
import { readText, examples, withExample } from './input.js';
import { facts, sections, table } from './output.js';

interface NotAdopted extends AdoptOrder {
  error: FailureReport;
}

const goesOn = 'Some orders may be adopted: repeat `labops orders adopt`, which adopts none twice';

/** Gives orders that exist already the product's references, one after the other. */
export function adoptCommand(orders: Command, commandLine: CommandLine): void {
  withExample(orders.command('adopt'), commandLine.terminal, examples.adoptions)
    .description('give existing orders your references; nothing is ordered')
    .requiredOption('--file <path>', 'CSV, first line orderId,reference, without quotes; - reads standard input')
    .option('--dry-run', 'only show what would happen, as far as Temporal knows')
    .action(async ({ file, dryRun: isDryRun }: { file: string; dryRun?: true }) => {
      const dryRun = isDryRun === true;
      const listed = adoptionsIn(await readText(commandLine.terminal, file));
      await commandLine.send(goesOn, async ({ lab, progress }) => {
        const adopted: AdoptedOrder[] = [];
        const failed: NotAdopted[] = [];
        const { concernsEveryOrder } = await import('../order/orders.js');
        try {
          for (const [done, order] of listed.entries()) {
            progress.say(`adopting: ${done} of ${listed.length}, ${failed.length} not adopted`);
            try {
              adopted.push(await lab.orders.adopt(order, { dryRun }));
            } catch (error) {
              if (!(error instanceof LabOperationsError)) throw error;
              failed.push({ ...order, error: failureReport(error) });
              if (concernsEveryOrder(error)) throw error;
            }
          }
        } finally {
          const inWords = () => adoptionText(adopted, failed, dryRun);
          commandLine.print({ orders: adopted, failed, dryRun }, inWords, [...adopted, ...failed]);
        }
        if (dryRun) commandLine.note('The lab service was not asked: it may not know an order.');
        if (failed.length > 0) throw new NotAllChanged(`${failed.length} of ${listed.length} orders are not adopted`);
      });
    });
}

/**
 * The orders of a file. Neither column may hold a comma, a quote or a line break, so to split at commas and line breaks is to read all the
 * CSV that is valid here.
 * @throws UsageError naming every line that is at fault. It quotes none: a wrong file may be about persons
 */
function adoptionsIn(text: string): AdoptOrder[] {
  const rows = text.split(/\r?\n/).map((line) => line.split(',').map((cell) => cell.trim()));
  const header = rows[0]?.map((name) => (name === 'order_id' ? 'orderId' : name)) ?? [];
  const [orderAt, referenceAt] = [header.indexOf('orderId'), header.indexOf('reference')];
  if (header.length !== 2 || orderAt < 0 || referenceAt < 0) {
    throw new UsageError('The first line of the file must be orderId,reference');
  }
  const faults: RefusedField[] = [];
  const lineOf = new Map<string, number>();
  const listed = rows.flatMap((row, index): AdoptOrder[] => {
    if (index === 0 || row.join('') === '') return [];
    const line = index + 1;
    const fault = (message: string) => faults.push({ field: `line ${line}`, message });
    const { [orderAt]: orderId = '', [referenceAt]: reference = '' } = row;
    if (row.length !== 2) fault('must have two columns');
    if (!isAddressable(orderId)) fault("orderId must be the service's id of an order");
    if (!isReference(reference)) fault(`reference must match ${referencePattern.source}`);
    for (const [field, value] of Object.entries({ orderId: canonicalId(orderId), reference })) {
      const before = lineOf.get(`${field} ${value}`);
      if (before !== undefined) fault(`${field} is that of line ${before}`);
      lineOf.set(`${field} ${value}`, before ?? line);
    }
    return [{ orderId, reference }];
  });
  const said = faults.map(({ field, message }) => `${field}: ${message}`).join('; ');
  if (faults.length > 0) throw new UsageError(`The file is not valid: ${said}`, { fields: faults });
  if (listed.length === 0) throw new UsageError('The file has no orders');
  return listed;
}

function adoptionText(adopted: readonly AdoptedOrder[], failed: readonly NotAdopted[], dryRun: boolean): string {
  const count = (outcome: AdoptedOrder['outcome']): number => adopted.filter((each) => each.outcome === outcome).length;
  const rows = failed.map(({ orderId, reference, error }) => [orderId, reference, `${error.name}: ${error.message}`]);
  return sections(
    facts([
      [dryRun ? 'Can be adopted' : 'Adopted', count('adopted')],
      ['Already adopted', count('already_adopted')],
      ['Not adopted', failed.length],
    ]),
    rows.length > 0 ? table(['Order', 'Reference', 'Why not'], rows) : undefined,
  );
}
