/** The workflows that a worker runs, by the names they are started with. */
export { bookAppointment } from './appointment/book-appointment.js';
export { deleteUser } from './deletion/delete-user.js';
export { kitOrder } from './order/kit-order.js';
export { linkProvider } from './link/link-provider.js';
export { placeKitOrder } from './order/place-kit-order.js';
export { parsingJob } from './report/parsing-job.js';
export { submitReport } from './report/submit-report.js';
export { manageWebhooks } from './webhooks/manage-webhooks.js';
export { reconcileOrders } from './reconcile/reconcile-orders.js';
export { fetchWorkoutStream } from './workout-stream/fetch-workout-stream.js';
export { listRejectedEvents } from './rejected-events/list-rejected-events.js';
export { replayRejectedEvents } from './rejected-events/replay-rejected-events.js';
export { discardRejectedEvent } from './rejected-events/discard-rejected-event.js';
