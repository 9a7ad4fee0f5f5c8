import type { Story } from '../stage.js';

export const changedMind: Story = {
  label: 'regrets',
  colour: 'magenta',
  promise:
    'A customer leaves and comes back within the week. The data is still there, but the watch must be linked again.',
  async play(stage) {
    const deletion = await stage.deleteNewUser(['invented_watch']);
    const { userId } = deletion.handle;
    stage.check('the user can be restored', deletion.handle.requested?.phase === 'grace');
    stage.check('the user is not there meanwhile', !(await stage.isUser(userId)));
    await stage.days(2);
    stage.acts('the customer comes back; the product undoes the deletion');
    const { undo } = await deletion.handle.undo();
    const lost = undo?.lostConnections ?? [];
    stage.check('user and data are back', undo?.restored.join() === 'user,data');
    stage.check('the watch is not', lost.join() === 'invented_watch');
    const { outcome } = await deletion.handle.result();
    stage.check('the deletion is undone', outcome === 'undone' && (await stage.isUser(userId)));
    stage.check('the product was notified', deletion.notifications.has('deletion_undone'));
    return `undone: user and data are back, ${lost.length} connection has to be linked again`;
  },
};

export const leftForGood: Story = {
  label: 'leaves',
  colour: 'red',
  promise: 'A customer leaves. The product is notified before the deletion becomes final, and once it is final.',
  async play(stage) {
    const deletion = await stage.deleteNewUser();
    await deletion.notifications.first('deletion_reminder');
    stage.acts('the product asks the customer once more; the customer does not answer');
    const { outcome } = await deletion.handle.result();
    stage.check('the deletion is final', outcome === 'deleted');
    stage.check('the product was notified', deletion.notifications.has('deleted'));
    const refused = await deletion.handle.undo().catch((error: unknown) => error);
    stage.check('it cannot be undone', refused instanceof Error && refused.name === 'GraceEnded');
    stage.acts('the product tries to undo the deletion: refused, the week is over');
    await stage.untilErased(deletion.handle.userId);
    return 'deleted; the lab service has erased the data';
  },
};
