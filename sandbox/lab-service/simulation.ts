import { fullStatus, knownStatuses } from './lifecycle.js';
import { unacceptable } from './problems.js';
import type { Interpretation, Order } from './state.js';
import { Fields, oneOf } from './validation.js';

/** No simulation waits longer than this between two statuses (assumed; the limit keeps timers sane). */
const LONGEST_DELAY_SECONDS = 86_400;

/** The query and the body of `POST /v3/order/{id}/test`. Without a final status the order is completed. */
export function simulationRequest(order: Order, query: unknown, body: unknown) {
  const { method } = order.labTest;
  const queryFields = Fields.ofQuery(query);
  // The specification's spelling of a registration is not in the schema's list of statuses: both are taken.
  const asked = queryFields.optionalString('final_status', oneOf(...knownStatuses()));
  // Between two statuses. The unit is not documented; assumed to be seconds.
  const delaySeconds = queryFields.queryInteger('delay', 0, { min: 0, max: LONGEST_DELAY_SECONDS });
  queryFields.finish();
  const finalStatus = asked ?? fullStatus(method, 'completed', 'completed');
  if (finalStatus.split('.')[1] !== method) {
    throw unacceptable(['query', 'final_status'], `the order is collected by ${method}`, finalStatus);
  }
  const bodyFields = Fields.ofBody(body);
  const interpretation = bodyFields.optionalString(
    'interpretation',
    oneOf('normal', 'abnormal', 'critical', 'unknown'),
  ) as Interpretation | null;
  const hasMissingResults = bodyFields.optionalBoolean('has_missing_results');
  bodyFields.finish();
  return {
    finalStatus,
    delaySeconds,
    flags: {
      ...(interpretation === null ? {} : { interpretation }),
      ...(hasMissingResults === null ? {} : { hasMissingResults }),
    },
  };
}
