import { readingPatiently } from '../proxies.js';
import { wantFrom, type AppointmentCase } from './case.js';
import { setNotifies, takeReading, takeSilence } from './reading.js';

/**
 * Finds out what there is before anything is done: an appointment that was made elsewhere, an order that needs none any
 * more, an earlier run that has told of it. A service that does not answer holds nobody up: every command looks itself.
 */
export async function identify(kase: AppointmentCase): Promise<void> {
  if (kase.identified) return;
  const asked = kase.heard;
  const summary = 'what there is already';
  const found = await readingPatiently.identifyAppointment.executeWithOptions({ summary }, [kase.orderId]);
  const { reading, notifies, previous } = found;
  if (previous) {
    kase.announced = [...new Set([...previous.announced, ...kase.announced])];
    const { outcome, appointment } = previous;
    kase.before = { outcome, ...(appointment && { appointmentId: appointment.appointmentId }) };
    if (!kase.wanted) kase.policy = previous.policy;
  }
  setNotifies(kase, notifies);
  if (reading) takeReading(kase, reading, asked, Date.now());
  else takeSilence(kase, Date.now());
  // Neither a webhook nor the product's signal came with the start: somebody started it by hand to have an appointment.
  if (!kase.known) wantFrom(kase, Date.now());
  kase.identified = true;
}
