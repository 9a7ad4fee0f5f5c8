/** Files that are named together on the command line. */
export interface Group {
  files: readonly string[];
  /** They call activities and wait: lives reach them, and steps and awaits are left out as well. */
  isGlue?: true;
}

export const groups: Readonly<Record<string, Group>> = {
  protocol: {
    files: [
      ...filesOf('protocol', 'business-days', 'settling'),
      ...filesOf('protocol/policy', 'resolution', 'settings'),
      ...filesOf('protocol/order', 'lifecycle', 'root-order'),
      ...['protocol/appointment/lifecycle.ts', 'protocol/report/lifecycle.ts'],
    ],
  },
  entity: { files: filesOf('workflows/entity', 'attention', 'fields', 'journal', 'policy', 'spans', 'versions') },
  order: {
    files: filesOf(
      'workflows/order',
      'announcements',
      'chain',
      'critical-results',
      'deadlines',
      'questions',
      'redraws',
      'snapshots',
    ),
  },
  link: { files: filesOf('workflows/link', 'deadlines', 'link') },
  report: { files: filesOf('workflows/report', 'announcements', 'deadlines', 'job', 'reports') },
  appointment: { files: filesOf('workflows/appointment', 'appointment', 'deadlines') },
  deletion: { files: ['workflows/deletion/deletion.ts'] },
  'entity-glue': {
    isGlue: true,
    files: filesOf('workflows/entity', 'attempts', 'commands', 'loop', 'loop-timer', 'operators', 'outbox', 'polling'),
  },
  'deletion-glue': {
    isGlue: true,
    files: filesOf(
      'workflows/deletion',
      ...['commands', 'grace', 'retrying', 'running-work', 'scheduling', 'workflow'],
    ),
  },
  'delivery-glue': { isGlue: true, files: filesOf('workflows/notifications', 'delivery') },
  'link-glue': { isGlue: true, files: filesOf('workflows/link', 'commands', 'workflow') },
  'report-glue': {
    isGlue: true,
    files: filesOf('workflows/report', 'identify', 'intake', 'submit', 'workflow'),
  },
  'appointment-glue': { isGlue: true, files: filesOf('workflows/appointment', 'commands', 'reading', 'workflow') },
  'match-review-glue': { isGlue: true, files: filesOf('workflows/match-review', 'commands', 'reading', 'workflow') },
  'order-glue': {
    isGlue: true,
    files: filesOf(
      'workflows/order',
      ...[
        'adopting',
        'commands',
        'decisions',
        'forwarding',
        'identify',
        'intake',
        'placing',
        'policy-change',
        'reading',
      ],
      ...['replacing', 'workflow'],
    ),
  },
};

function filesOf(folder: string, ...names: string[]): string[] {
  return names.map((name) => `${folder}/${name}.ts`);
}

/** A group, or a file alone. */
export function groupOf(name: string): Group {
  const isGlue = Object.values(groups).some((group) => group.isGlue && group.files.includes(name));
  return groups[name] ?? { files: [name], ...(isGlue && { isGlue }) };
}
