import type { KitOrderResult } from '../../protocol/order/messages.js';
import { upgradeGoverned, type PolicyVersions } from '../entity/policy.js';
import { upgrade, type Step } from '../entity/versions.js';
import type { Chain } from './chain.js';
import { day, hour, minute, second } from '../entity/spans.js';

const remedies = ['ask', 'replace', 'fail'];
const deadline = { orBusinessDays: true };

/** The settings of each version, with what a policy of an earlier version gets: never changed once released. */
export const orderPolicyVersions: PolicyVersions<'order'> = {
  of: 'order',
  added: [
    {
      registrationDeadline: 90 * day,
      registrationReminders: [3 * day, 10 * day, 30 * day],
      assumedDelivery: 7 * day,
      shippingDeadline: 5 * day,
      deliveryDeadline: 10 * day,
      returnReminders: [2 * day, 7 * day],
      returnDeadline: 14 * day,
      transitToLabDeadline: 10 * day,
      resultsDeadline: 14 * day,
      problemLimit: 7 * day,
      onProblem: 'ask',
      onLost: 'ask',
      onSampleError: 'ask',
      replacementLimit: 1,
      redrawWait: day,
      decisionWait: 30 * day,
      recheckEvery: day,
      giveUpAfter: 60 * day,
      criticalResultReminder: hour,
      notificationDeadline: 3 * day,
      creationTimeout: 30 * second,
      creationSettling: 45 * second,
    },
    { resultsLimit: 60 * day, holidays: [], utcOffset: -5 },
  ],
  bounds: {
    registrationDeadline: deadline,
    shippingDeadline: deadline,
    deliveryDeadline: deadline,
    returnDeadline: deadline,
    transitToLabDeadline: deadline,
    resultsDeadline: deadline,
    problemLimit: deadline,
    holidays: 'dates',
    utcOffset: { isCount: true, least: -12, most: 14 },
    onProblem: remedies,
    onLost: remedies,
    onSampleError: remedies,
    replacementLimit: { isCount: true, least: 0, most: 100 },
    recheckEvery: { most: 30 * day },
    criticalResultReminder: { least: second, most: day },
    creationTimeout: { least: second, most: 5 * minute },
    creationSettling: { least: second, most: 10 * minute, notBelow: 'creationTimeout' },
  },
};

const chainSteps: readonly Step[] = [
  (chain) => ({
    handedOver: false,
    isNew: false,
    identified: false,
    orders: [],
    replacements: [],
    unreadable: [],
    absent: [],
    announced: [],
    criticalReports: [],
    criticalResults: [],
    met: [],
    patience: [],
    answers: [],
    attention: [],
    raised: {},
    outbox: [],
    journal: [],
    ...chain,
  }),
];

export const chainVersion = chainSteps.length;

/** The state that the run before this one had. */
export function upgradeChain(carried: unknown): Chain {
  return upgradeGoverned(orderPolicyVersions, upgrade<Chain>('state of the order', chainSteps, carried));
}

const resultSteps: readonly Step[] = [
  (result) => ({
    chain: [],
    timeline: [],
    replacements: [],
    answers: [],
    attention: [],
    raised: {},
    criticalResults: [],
    registered: false,
    ...result,
  }),
];

export const orderResultVersion = resultSteps.length;

/** The result of an earlier run of the same root. */
export function upgradeOrderResult(result: unknown): KitOrderResult {
  return upgradeGoverned(orderPolicyVersions, upgrade<KitOrderResult>('result of the order', resultSteps, result));
}
