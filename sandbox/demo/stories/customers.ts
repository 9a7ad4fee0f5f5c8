import { errors } from '../../../client/index.js';
import type { Change } from '../played-order.js';
import { StoryFailed, type Story } from '../stage.js';
import { withResults } from './journeys.js';

export const lateCustomer: Story = {
  label: 'late',
  colour: 'magenta',
  promise: 'The customer registers the kit only after the second reminder. Each reminder has a link to the portal.',
  async play(stage) {
    const order = await stage.place({ registrationReminders: ['2d', '4d'] });
    await order.plays(withResults);
    const { data } = await order.notifications.first('registration_reminder', (event) => event.data.reminder === 2);
    const links = await stage.control.portalLinks();
    const sent = links.find(({ url }) => url === data.portal_url);
    stage.check('the reminder brings a portal link to this order', sent?.order_id === order.orderId);
    stage.acts('the customer follows the link and registers the kit');
    await order.register();
    const { outcome } = await order.end();
    stage.check('the order is completed', outcome === 'completed');
    return 'completed, after two reminders';
  },
};

export const refusedName: Story = {
  label: 'typing',
  colour: 'yellow',
  promise: 'A name that labs do not accept and a mistyped kit number are refused. The third registration is accepted.',
  async play(stage) {
    const order = await stage.place();
    await order.plays(withResults);
    await order.reaches('with_customer');
    stage.acts('the customer registers as José');
    const name = await refusal(errors.RegistrationRefused, order.register(named('José')));
    stage.acts(`refused, ${explain(name)}`);
    stage.check(
      'the field is named',
      name.fields.some(({ field }) => field.endsWith('first_name')),
    );
    stage.acts('the customer registers as Jose, with a mistyped kit number');
    const mistyped = order.register((registration) => ({ ...registration, sample_id: 'MISTYPED' }));
    const number = await refusal(errors.RegistrationRefused, mistyped);
    stage.acts(`refused with ${number.status}, ${explain(number)}`);
    stage.check('the lab service refused it with 422', number.status === 422);
    stage.acts('the customer registers as Jose, with the right number');
    const { registered } = await order.register(named('Jose'));
    stage.check('the kit is registered', registered);
    const { outcome } = await order.end();
    stage.check('the order is completed', outcome === 'completed');
    return 'completed, after two refused registrations';
  },
};

function named(firstName: string): Change {
  return (registration) => ({
    ...registration,
    patient_details: { ...registration.patient_details, first_name: firstName },
  });
}

/** Fits into a line of the terminal. */
const longestReason = 76;

function explain({ fields }: errors.RegistrationRefused): string {
  const reasons = fields.map(({ field, message }) => `${field} ${message}`).join('; ');
  return reasons.length > longestReason ? `${reasons.slice(0, longestReason)}…` : reasons;
}

/** Returns the refusal of a command that must be refused. */
async function refusal<Refusal extends Error>(
  expected: new (...details: never[]) => Refusal,
  command: Promise<unknown>,
): Promise<Refusal> {
  try {
    await command;
  } catch (error) {
    if (error instanceof expected) return error;
    throw error;
  }
  throw new StoryFailed(`the command should be refused with ${expected.name}`);
}

export const earlyCancel: Story = {
  label: 'cancelled',
  colour: 'blue',
  promise: 'The customer changes their mind before the kit ships, and the product cancels the order.',
  async play(stage) {
    const order = await stage.place();
    await order.until(({ timeline }) => timeline.length > 0);
    await stage.days(1);
    stage.acts('the product cancels the order');
    await order.handle.cancel();
    const { outcome } = await order.end();
    stage.check('the order is cancelled', outcome === 'cancelled');
    stage.check('the product was notified', order.notifications.has('cancellation'));
    return 'cancelled: no kit was sent';
  },
};

export const lateCancel: Story = {
  label: 'too late',
  colour: 'green',
  promise: 'The lab refuses to cancel an order that has shipped. The order continues.',
  async play(stage) {
    const order = await stage.place();
    await order.plays(withResults);
    await order.reaches('transit_customer');
    stage.acts('the product tries to cancel the order');
    const refused = await refusal(errors.CancelRefused, order.handle.cancel());
    stage.check('the lab service refused it with 400', refused.status === 400);
    stage.acts(`refused with ${refused.status}: the kit is on its way, and the order continues`);
    await order.reaches('with_customer');
    stage.acts('the customer registers the kit after all');
    await order.register();
    const { outcome } = await order.end();
    stage.check('the order is completed', outcome === 'completed');
    return 'completed: the cancellation was refused';
  },
};
