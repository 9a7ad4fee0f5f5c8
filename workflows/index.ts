/** The workflows that a worker runs, by the names they are started with. */
export { bookAppointment } from './appointment/book-appointment.js';
export { deleteUser } from './deletion/delete-user.js';
export { kitOrder } from './order/kit-order.js';
export { linkProvider } from './link/link-provider.js';
export { placeKitOrder } from './order/place-kit-order.js';
export { parsingJob } from './report/parsing-job.js';
export { submitReport } from './report/submit-report.js';
export { reconcileOrders } from './reconcile/reconcile-orders.js';
