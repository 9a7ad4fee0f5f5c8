import type { CollectionMethod } from './lifecycle.js';

/** The seed: one team, a few lab tests and lab accounts, under ids that never change. */

export const inventedTeamId = 'b7e5a1c0-0000-4000-8000-000000000001';

export const labTestIds = {
  /** Test kit, dried blood spot, 3 markers. */
  kit: '7e570000-0000-4000-8000-000000000001',
  /** A second test kit (saliva, 1 marker), to distinguish orders of different tests. */
  otherKit: '7e570000-0000-4000-8000-000000000002',
  atHomePhlebotomy: '7e570000-0000-4000-8000-000000000003',
  walkIn: '7e570000-0000-4000-8000-000000000004',
} as const;

export const labAccountIds = {
  /** Used where an order names no account. */
  notDelegated: 'acc00000-0000-4000-8000-000000000001',
  /** Orders need a physician from the caller. */
  orderDelegated: 'acc00000-0000-4000-8000-000000000002',
  /** Orders need a physician from the caller. */
  fullyDelegated: 'acc00000-0000-4000-8000-000000000003',
  resultDelegated: 'acc00000-0000-4000-8000-000000000004',
  /** Takes imported orders only. */
  pending: 'acc00000-0000-4000-8000-000000000005',
} as const;

export interface Marker {
  readonly id: number;
  readonly name: string;
  readonly slug: string;
  readonly unit: string;
  readonly loinc: string;
  /** The invented reference range. */
  readonly min: number;
  readonly max: number;
  /** What an order of it has to answer. */
  readonly questions?: readonly Question[];
}

export interface Question {
  readonly id: number;
  readonly required: boolean;
  readonly code: string;
  readonly value: string;
  readonly type: 'choice' | 'numeric';
  readonly choices: readonly { readonly id: number; readonly code: string; readonly value: string }[];
}

export interface LabTest {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly method: CollectionMethod;
  readonly sampleType: string;
  readonly price: number;
  readonly commonTatDays: number;
  readonly worstCaseTatDays: number;
  readonly markers: readonly Marker[];
}

type DelegatedFlow = 'not_delegated' | 'order_delegated' | 'fully_delegated' | 'result_delegated';

export interface LabAccount {
  readonly id: string;
  readonly lab: string;
  readonly org_id: string | null;
  readonly status: 'active' | 'pending' | 'suspended' | 'ready_to_launch';
  readonly delegated_flow: DelegatedFlow;
  readonly provider_account_id: string;
  readonly account_name: string | null;
  readonly default_clinical_notes: string | null;
  readonly business_units: readonly string[] | null;
  readonly allowed_billing: Readonly<Record<string, readonly string[]>>;
  readonly team_id_allowlist: readonly string[];
}

export const inventedLab = { id: 1, slug: 'invented-lab', name: 'Invented Laboratory' } as const;

function marker(id: number, name: string, unit: string, loinc: string, min: number, max: number): Marker {
  return { id, name, slug: name.toLowerCase(), unit, loinc, min, max };
}

const glucose = marker(11, 'Glucose', 'mg/dL', '2345-7', 65, 99);
const hba1c = { ...marker(12, 'Hemoglobin A1c', '%', '4548-4', 4, 5.6), slug: 'hba1c' };
const ferritin = marker(13, 'Ferritin', 'ng/mL', '2276-4', 16, 154);
const cortisol: Marker = {
  ...marker(14, 'Cortisol', 'ug/dL', '2143-6', 6.2, 19.4),
  questions: [
    {
      ...{ id: 501, required: true, code: 'TIME_OF_DAY', value: 'When will the sample be taken?', type: 'choice' },
      choices: [
        { id: 1, code: 'AM', value: 'Morning' },
        { id: 2, code: 'PM', value: 'Evening' },
      ],
    },
    { id: 502, required: false, code: 'SLEEP', value: 'Hours of sleep', type: 'numeric', choices: [] },
  ],
};

export const labTests: readonly LabTest[] = [
  {
    ...{ id: labTestIds.kit, slug: 'metabolic-kit', name: 'Metabolic kit', sampleType: 'dried_blood_spot' },
    description: 'Invented test kit: three metabolic markers from a dried blood spot.',
    method: 'testkit',
    ...{ price: 79, commonTatDays: 3, worstCaseTatDays: 7, markers: [glucose, hba1c, ferritin] },
  },
  {
    ...{ id: labTestIds.otherKit, slug: 'stress-kit', name: 'Stress kit', sampleType: 'saliva' },
    description: 'Invented test kit: one marker from saliva.',
    method: 'testkit',
    ...{ price: 59, commonTatDays: 4, worstCaseTatDays: 9, markers: [cortisol] },
  },
  {
    ...{ id: labTestIds.atHomePhlebotomy, slug: 'home-draw', name: 'Home draw', sampleType: 'serum' },
    description: 'Invented panel drawn at home.',
    method: 'at_home_phlebotomy',
    ...{ price: 129, commonTatDays: 2, worstCaseTatDays: 5, markers: [glucose, hba1c] },
  },
  {
    ...{ id: labTestIds.walkIn, slug: 'walk-in-panel', name: 'Walk-in panel', sampleType: 'serum' },
    description: 'Invented panel drawn at a service centre.',
    method: 'walk_in_test',
    ...{ price: 89, commonTatDays: 2, worstCaseTatDays: 5, markers: [glucose, ferritin] },
  },
];

function account(id: string, flow: DelegatedFlow, more: Partial<LabAccount> = {}): LabAccount {
  return {
    ...{ id, lab: inventedLab.slug, org_id: null, status: 'active' as const, delegated_flow: flow },
    provider_account_id: `invented-${flow.replaceAll('_', '-')}`,
    account_name: `Invented account, ${flow}`,
    ...{ default_clinical_notes: null, business_units: null, team_id_allowlist: [inventedTeamId] },
    allowed_billing: { client_bill: ['CA', 'NY', 'TX'] },
    ...more,
  };
}

export const labAccounts: readonly LabAccount[] = [
  account(labAccountIds.notDelegated, 'not_delegated'),
  account(labAccountIds.orderDelegated, 'order_delegated', { default_clinical_notes: 'Fasting sample preferred.' }),
  account(labAccountIds.fullyDelegated, 'fully_delegated'),
  account(labAccountIds.resultDelegated, 'result_delegated', { status: 'ready_to_launch' }),
  account(labAccountIds.pending, 'not_delegated', { status: 'pending' }),
];
