import type {
  LabAccount,
  LabAccountFilter,
  LabTest,
  LabTestFilter,
  Marker,
  MarkerFilter,
} from '../../service/lab-tests.js';
import type { CallOptions } from '../call-options.js';
import { askService, listFromService, type ServiceAccess } from '../service-calls.js';
import { isAsking } from '../workflow-calls.js';

/**
 * What can be ordered: lab tests, the markers that they measure with the questions to answer when ordering, and the team's
 * accounts at laboratories. Needs `service` in `LabOperations`. Every method rejects with ServiceNotConfigured, TimedOut and
 * the service's own errors; its deadline is 30 seconds, for a list 30 seconds a page.
 */
export class CatalogueOperations {
  private readonly access: ServiceAccess;

  constructor(access: ServiceAccess) {
    this.access = access;
  }

  /** Lab tests: the `id` of one with `status: 'active'` is the `lab_test_id` of an order. Default: those made by hand. */
  labTests(filter: LabTestFilter = {}, options: CallOptions = {}): AsyncGenerator<LabTest, void, undefined> {
    return listFromService(this.access, isAsking, options, ({ labTests }) => labTests.list(filter));
  }

  /** Any lab test, also one that was made for an order of single markers. */
  async labTest(labTestId: string, options: CallOptions = {}): Promise<LabTest> {
    return askService(this.access, isAsking, options, ({ labTests }, ends) => labTests.get(labTestId, ends));
  }

  /** Markers that can be ordered: all of them, or those that the filter leaves. */
  markers(filter: MarkerFilter = {}, options: CallOptions = {}): AsyncGenerator<Marker, void, undefined> {
    return listFromService(this.access, isAsking, options, ({ labTests }) => labTests.listMarkers(filter));
  }

  /** The team's accounts at laboratories. An order of one with `order_delegated` or `fully_delegated` needs a physician. */
  async labAccounts(filter: LabAccountFilter = {}, options: CallOptions = {}): Promise<LabAccount[]> {
    return askService(this.access, isAsking, options, ({ labTests }, ends) => labTests.listLabAccounts(filter, ends));
  }
}
