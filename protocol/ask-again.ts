/** The message of a query that a worker did not answer because the workflow moved on while it was read. */
export const askAgain = 'The workflow moved on while it was read: ask again';
