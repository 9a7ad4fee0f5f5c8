import type { Calls } from './calls.js';
import { chosenWords, ids } from './ids.js';
import { consents, insurance, patient, patientAddress, patientInFull, physician, shippingDetails } from './persons.js';

const { userId, orderId, labTestId, transactionId, accountId } = ids;
const passthrough = 'labops:-:order-1001:1';

const kit = { user_id: userId, lab_test_id: labTestId, shipping_details: shippingDetails };
const known = { user_id: userId, lab_test_id: labTestId, patient_details: patient, patient_address: patientAddress };
const registration = { sample_id: 'INVENTED-1', patient_details: patient, patient_address: patientAddress };
const { phone_number: _, ...importAddress } = patientAddress;

const knownInFull = {
  user_id: userId,
  order_set: {
    lab_test_ids: [labTestId],
    add_on: { marker_ids: [17], provider_ids: ['INVENTED'] },
    lab_account_id: accountId,
  },
  collection_method: 'walk_in_test',
  patient_details: patientInFull,
  patient_address: patientAddress,
  physician,
  health_insurance: insurance,
  billing_type: 'client_bill',
  icd_codes: ['Z00.00'],
  aoe_answers: [{ marker_id: 17, question_id: 3, answer: 'invented' }],
  priority: true,
  activate_by: '2099-01-01',
  consents,
  clinical_notes: 'Invented',
  lab_account_id: accountId,
  creator_member_id: ids.memberId,
  passthrough,
};

const orderFilter = {
  userId,
  interpretation: 'critical',
  status: ['completed'],
  orderIds: [orderId],
  orderTransactionId: transactionId,
  startDate: '2026-01-01T00:00:00Z',
  endDate: '2026-02-01T00:00:00Z',
  updatedStartDate: '2026-01-01T00:00:00Z',
  updatedEndDate: '2026-02-01T00:00:00Z',
  orderType: ['testkit'],
  isCritical: true,
  activationTypes: ['current'],
  patientName: 'Testpatient',
  shippingRecipientName: 'Testperson',
  searchInput: 'invented',
  orderKey: 'created_at',
  orderDirection: 'desc',
} as const;

const ordering: Calls = {
  'orders.createTestkit': ({ orders }) => orders.createTestkit(kit),
  'orders.createTestkit: with all fields': ({ orders }) =>
    orders.createTestkit({ ...kit, passthrough, lab_account_id: accountId }),
  'orders.create': ({ orders }) => orders.create(known),
  'orders.create: with all fields': ({ orders }) => orders.create(knownInFull, { idempotencyKey: 'invented-key' }),
  'orders.import': ({ orders }) =>
    orders.import({
      user_id: userId,
      billing_type: 'client_bill',
      order_set: { lab_test_ids: [labTestId] },
      collection_method: 'testkit',
      physician,
      patient_details: patientInFull,
      patient_address: importAddress,
      sample_id: 'INVENTED-1',
      lab_account_id: accountId,
    }),
  'orders.register': ({ orders }) => orders.register(registration),
  'orders.register: with all fields': ({ orders }) =>
    orders.register({
      user_id: userId,
      sample_id: 'INVENTED-1',
      patient_details: patientInFull,
      patient_address: patientAddress,
      consents,
      physician,
      health_insurance: insurance,
    }),
  'orders.cancel': ({ orders }) => orders.cancel(orderId),
  'orders.simulate': ({ orders }) =>
    orders.simulate(orderId, {
      finalStatus: 'completed.testkit.completed',
      delay: 1,
      interpretation: 'normal',
      resultTypes: ['numeric'],
      hasMissingResults: false,
    }),
  'orders.resendEvents': ({ orders }) => orders.resendEvents({ order_ids: [orderId] }),
  'orders.resendEvents: of a window': ({ orders }) =>
    orders.resendEvents({ start_at: '2026-01-01T00:00:00Z', end_at: '2026-01-31T00:00:00Z' }),
};

const reading: Calls = {
  'orders.get': ({ orders }) => orders.get(orderId),
  'orders.list': ({ orders }) => orders.list(),
  'orders.page': ({ orders }) => orders.page(orderFilter, 1, { pageSize: 20 }),
  'orders.results': ({ orders }) => orders.results(orderId),
  'orders.resultMetadata': ({ orders }) => orders.resultMetadata(orderId),
  'orders.transaction': ({ orders }) => orders.transaction(transactionId),
  'orders.transactionResults': ({ orders }) => orders.transactionResults(transactionId),
  'labTests.list': ({ labTests }) =>
    labTests.list({
      name: 'invented',
      status: 'active',
      method: 'testkit',
      labSlug: chosenWords.lab,
      labAccountId: accountId,
      markerIds: [17],
      providerIds: ['INVENTED'],
      madeBy: 'all',
    }),
  'labTests.get': ({ labTests }) => labTests.get(labTestId),
  'labTests.listMarkers': ({ labTests }) =>
    labTests.listMarkers({
      labSlug: chosenWords.lab,
      labIds: [7],
      name: 'invented',
      aLaCarteEnabled: true,
      labAccountId: accountId,
    }),
  'labTests.listLabAccounts': ({ labTests }) => labTests.listLabAccounts({ labAccountId: accountId, status: 'active' }),
};

const labels = { collectionDate: '2026-01-05T10:00:00Z', count: 3 };

const documents: Calls = {
  'documents.results': (service) => service.documents.results(orderId),
  'documents.transactionResults': (service) => service.documents.transactionResults(transactionId),
  'documents.requisition': (service) => service.documents.requisition(orderId),
  'documents.collectionInstructions': (service) => service.documents.collectionInstructions(orderId),
  'documents.labTestCollectionInstructions': (service) => service.documents.labTestCollectionInstructions(labTestId),
  'documents.beneficiaryNotice': (service) => service.documents.beneficiaryNotice(orderId),
  'documents.specimenLabels': (service) => service.documents.specimenLabels(orderId, labels),
};

export const orderCalls: Calls = { ...ordering, ...reading, ...documents };
