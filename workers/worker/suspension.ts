/**
 * How long one step of a workflow may take on the clock. By itself the SDK ends it after 5 seconds, and with it, often, the
 * process ("async hook stack has become corrupted"): a machine that was suspended, migrated or starved in mid-step for longer
 * would cost the worker. Five minutes outlast that, and still end a step that loops. The SDK takes the option without naming it in
 * its types; a test holds it.
 */
export const suspensionTolerance: object = { isolateExecutionTimeout: '5 minutes' };
