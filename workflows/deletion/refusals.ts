import { ApplicationFailure } from '@temporalio/workflow';

/** What requests and undos are refused with, in one place. */

export function graceNotBegun(): ApplicationFailure {
  return refuse('GraceNotBegun', 'The lab service has not taken the deletion yet: there is nothing to undo');
}

export function graceEnded(): ApplicationFailure {
  return refuse('GraceEnded', 'The deletion cannot be undone any more');
}

export function nothingToUndo(): ApplicationFailure {
  return refuse('NothingToUndo', 'There is nothing to undo: the deletion did not happen');
}

export function userUnknown(): ApplicationFailure {
  return refuse('UserUnknown', 'The lab service does not know this user, or no longer', 404);
}

export function userDeleted(): ApplicationFailure {
  return refuse('UserUnknown', 'The user was deleted, for good');
}

function refuse(type: string, message: string, status?: number): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type, { fields: [], ...(status !== undefined && { status }) });
}
