/** One group of files is mutated at a time: its tests are known by what they import. */
export const groups: Readonly<Record<string, readonly string[]>> = {
  protocol: [
    'protocol/{business-days,policy-resolution,policy-settings,policy-values,settling}.ts',
    'protocol/order/{lifecycle,root-order}.ts',
    'protocol/{appointment,report}/lifecycle.ts',
  ],
  entity: ['workflows/entity/{attention,fields,journal,policy,spans,versions}.ts'],
  order: ['workflows/order/{announcements,chain,critical-results,deadlines,resolutions,snapshots,validation}.ts'],
  link: ['workflows/link/{consequences,deadlines,link}.ts'],
  report: ['workflows/report/{announcements,deadlines,job,reports}.ts'],
  appointment: ['workflows/appointment/{appointment,deadlines,validation}.ts'],
  deletion: ['workflows/deletion/{deadlines,deletion}.ts'],
};
