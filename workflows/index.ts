/** The workflows that a worker runs, by the names they are started with. */
export { kitOrder } from './order/kit-order.js';
export { placeKitOrder } from './order/place-kit-order.js';
export { parsingJob } from './report/parsing-job.js';
export { submitReport } from './report/submit-report.js';
