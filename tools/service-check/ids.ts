/** Words that a product takes from the deployment's own lists: each stands for one of them, whatever an enum says. */
export const chosenWords = {
  provider: 'invented_watch',
  lab: 'invented_lab',
  visits: 'invented_visits',
} as const;

/** Invented ids. Most descriptions require UUIDs. */
export const ids = {
  userId: '6f0c0a49-2f0a-4b5e-8d6f-000000000001',
  orderId: '0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9',
  transactionId: '1b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9',
  labTestId: '2b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9',
  accountId: '3b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9',
  jobId: '4b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9',
  rawResultId: '5b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9',
  workoutId: '6b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9',
  reasonId: '7b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9',
  orgId: '8b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9',
  teamId: '9b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9',
  keyId: 'ab1c2d3e-4f50-4617-8293-a4b5c6d7e8f9',
  memberId: 'bb1c2d3e-4f50-4617-8293-a4b5c6d7e8f9',
  webhookId: 'ep_invented',
} as const;
