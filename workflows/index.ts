/** The workflows that a worker runs, by the names they are started with. */
export { bookAppointment } from './appointment/workflow.js';
export { deliverNotifications } from './notifications/delivery.js';
export { deleteUser } from './deletion/workflow.js';
export { kitOrder } from './order/workflow.js';
export { linkProvider } from './link/workflow.js';
export { matchReview } from './match-review/workflow.js';
export { placeKitOrder } from './order/placing.js';
export { stopPlacing } from './placing-stop.js';
export { parsingJob } from './report/workflow.js';
export { submitReport } from './report/submit.js';
export { operatorCall } from './operator-calls.js';
export { reconcileOrders } from './reconcile.js';
export { fetchWorkoutStream } from './workout-stream.js';
