/** The message of a query that a worker could not answer because the workflow moved on while it was read. */
export const askAgain = 'The workflow moved on while it was read: ask again';
