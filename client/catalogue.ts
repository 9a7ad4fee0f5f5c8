import type {
  LabAccount,
  LabAccountFilter,
  LabTest,
  LabTestFilter,
  Marker,
  MarkerFilter,
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
    checkRead('The filter', filter, ofLabTests);
    return listFromService(this.#access, asking, options, ({ labTests }, abort) => labTests.list(filter, abort));
  }

  /** Any lab test, also one that the service made for an order of single markers. */
  async labTest(labTestId: string, options: CallOptions = {}): Promise<LabTest> {
    return askService(this.#access, asking, options, ({ labTests }, abort) => labTests.get(labTestId, abort));
  }

  /** Markers that can be ordered. */
  markers(filter: MarkerFilter = {}, options: CallOptions = {}): AsyncGenerator<Marker, void, undefined> {
    checkRead('The filter', filter, ofMarkers);
    return listFromService(this.#access, asking, options, ({ labTests }, abort) => labTests.listMarkers(filter, abort));
  }

  /** The team's accounts at laboratories. With `order_delegated` or `fully_delegated`, an order needs a physician. */
  async accounts(filter: LabAccountFilter = {}, options: CallOptions = {}): Promise<LabAccount[]> {
    checkRead('The filter', filter, ofAccounts);
    return askService(this.#access, asking, options, ({ labTests }, abort) => labTests.listLabAccounts(filter, abort));
  }
}

const ofLabTests = {
  name: 'a non-empty string',
  status: 'a non-empty string',
  method: 'a non-empty string',
  labSlug: 'a non-empty string',
  labAccountId: 'a non-empty string',
  markerIds: 'a list of numbers',
  providerIds: 'a non-empty list of strings',
  madeBy: 'a non-empty string',
  orderKey: 'a non-empty string',
  orderDirection: 'a non-empty string',
} as const satisfies Record<keyof LabTestFilter, string>;

const ofMarkers = {
  labSlug: 'a non-empty string',
  labIds: 'a list of numbers',
  name: 'a non-empty string',
  aLaCarteEnabled: 'true or false',
  labAccountId: 'a non-empty string',
} as const satisfies Record<keyof MarkerFilter, string>;

const ofAccounts = { labAccountId: 'a non-empty string', status: 'a non-empty string' } as const satisfies Record<
  keyof LabAccountFilter,
  string
>;
