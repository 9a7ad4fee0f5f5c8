import type { QueryDefinition, SignalDefinition, UpdateDefinition } from '@temporalio/common';

/*
 * Names and types of messages, as @temporalio/workflow's functions of the same names make them. Importing those would bring the whole of
 * that package to every backend.
 */

export function defineSignal<Args extends unknown[] = []>(name: string): SignalDefinition<Args> {
  return { type: 'signal', name } as SignalDefinition<Args>;
}

export function defineQuery<Answer, Args extends unknown[] = []>(name: string): QueryDefinition<Answer, Args> {
  return { type: 'query', name } as QueryDefinition<Answer, Args>;
}

export function defineUpdate<Answer, Args extends unknown[] = []>(name: string): UpdateDefinition<Answer, Args> {
  return { type: 'update', name } as UpdateDefinition<Answer, Args>;
}
