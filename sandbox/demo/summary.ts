import { labelWidth } from './narrator.js';
import type { Screen } from './screen.js';
import type { Servers } from './servers.js';
import { isExact, type Tally } from './tally.js';
import type { Ending } from './playing.js';

/** Shows how every story ended, with the Web UI's page of its workflow. */
export function showEndings(endings: readonly Ending[], tally: Tally, seconds: number, screen: Screen): void {
  const succeeded = endings.filter((ending) => ending.succeeded).length;
  screen.heading(`${succeeded} of ${endings.length} stories succeeded, in ${seconds} s`);
  for (const ending of endings) {
    const mark = ending.succeeded ? screen.styled(['bold', 'green'], '✔') : screen.styled(['bold', 'red'], '✘');
    screen.line(
      `  ${mark} ${screen.styled(ending.story.colour, ending.story.label.padEnd(labelWidth))} ${ending.text}`,
    );
    if (ending.uiUrl !== undefined) screen.line(`               ${screen.styled('gray', ending.uiUrl)}`);
  }
  screen.line();
  const mark = isExact(tally) ? screen.styled(['bold', 'green'], '✔') : screen.styled(['bold', 'red'], '✘');
  const { placed, replacements, made, lostAnswers, redrawn, connected, codes } = tally;
  screen.line(
    `  ${mark} kits       ${made}: ${count(placed, 'order')} and ${count(replacements, 'replacement')}, with ` +
      `${count(lostAnswers, 'lost answer')}; the lab made ${redrawn} more by itself`,
  );
  screen.line(`    links      ${connected} connected, with ${count(codes, 'code')} handed to the provider`);
}

/** Shows where to look while everything stays up. */
export function showAddresses(servers: Servers, lostOrderId: string, logFolder: string, screen: Screen): void {
  const rows = [
    ['Web UI', `${servers.uiUrl}/namespaces/default/workflows`],
    ['Codec server', `${servers.codecUrl} (histories are encrypted; the Web UI reads them with it)`],
    ['Temporal', servers.temporalAddress],
    ['Lab service', `${servers.sandboxUrl} (control interface below /_sandbox/)`],
    ['Ingress', `${servers.ingressUrl}/webhooks`],
    ['Logs', logFolder],
  ];
  screen.heading('Everything stays up until Ctrl-C');
  for (const [name = '', where = ''] of rows) screen.line(`  ${screen.styled('bold', name.padEnd(12))} ${where}`);
  screen.heading('One order needs a person');
  screen.line(
    '  Its kit is lost. In the Web UI the search LabAttention IS NOT NULL finds it. From another terminal:\n',
  );
  // The keys were made for this run, and what they protect is invented.
  screen.line(`export TEMPORAL_ADDRESS=${servers.temporalAddress} LABOPS_ENCRYPTION_KEYS=${servers.encryptionKeys}`);
  screen.line('npx --no -- labops orders list --attention');
  screen.line(`npx --no -- labops orders resolve ${lostOrderId} --decision replace`);
  screen.line(
    '\n  The second kit then travels as the others did, and ends with results: `labops orders show` follows it.',
  );
  screen.line();
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
