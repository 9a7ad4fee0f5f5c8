import {
  type LabAccount,
  type LabAccountFilter,
  labAccountFilterSchema,
  type LabTest,
  type LabTestFilter,
  labTestFilterSchema,
  type Marker,
  type MarkerFilter,
  markerFilterSchema,
} from '../service/lab-tests.js';
import type { CallOptions } from './call-options.js';
import { checkRead } from './input-faults.js';
import { askService, listFromService, type ServiceAccess } from './service-calls.js';
import { asking } from './workflow-calls.js';

/**
 * The service's catalogue: lab tests, the markers that they measure with the questions to answer when ordering, and the team's
 * accounts at laboratories. Needs `service` in `LabOperations`. In addition to the service's own errors there are ReadInvalid for
 * a filter, ServiceNotConfigured and TimedOut. Deadline: 30 seconds, for a list 30 seconds a page.
 */
export class CatalogueOperations {
  readonly #access: ServiceAccess;

  constructor(access: ServiceAccess) {
    this.#access = access;
  }

  /** Lab tests: the `id` of one with `status: 'active'` is the `lab_test_id` of an order. */
  labTests(filter: LabTestFilter = {}, options: CallOptions = {}): AsyncGenerator<LabTest, void, undefined> {
    checkRead('The filter', filter, labTestFilterSchema);
    return listFromService(this.#access, asking, options, ({ labTests }, abort) => labTests.list(filter, abort));
  }

  /** Any lab test, also one that the service made for an order of single markers. */
  async labTest(labTestId: string, options: CallOptions = {}): Promise<LabTest> {
    return askService(this.#access, asking, options, ({ labTests }, abort) => labTests.get(labTestId, abort));
  }

  /** Markers that can be ordered. */
  markers(filter: MarkerFilter = {}, options: CallOptions = {}): AsyncGenerator<Marker, void, undefined> {
    checkRead('The filter', filter, markerFilterSchema);
    return listFromService(this.#access, asking, options, ({ labTests }, abort) => labTests.listMarkers(filter, abort));
  }

  /** The team's accounts at laboratories. With `order_delegated` or `fully_delegated`, an order needs a physician. */
  async accounts(filter: LabAccountFilter = {}, options: CallOptions = {}): Promise<LabAccount[]> {
    checkRead('The filter', filter, labAccountFilterSchema);
    return askService(this.#access, asking, options, ({ labTests }, abort) => labTests.listLabAccounts(filter, abort));
  }
}
