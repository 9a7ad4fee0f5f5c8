import { SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';

/** The result of `defineSearchAttributeKey`. */
export interface SearchAttribute {
  name: string;
  type: SearchAttributeType;
}

/** As `temporal server start-dev` takes it. */
export function asArgument({ name, type }: SearchAttribute): string {
  return `--search-attribute=${name}=${TypedSearchAttributes.toMetadataType(type)}`;
}

/** The values of Temporal's `IndexedValueType`, by which the operator service knows the types. */
const indexedValueType: Record<SearchAttributeType, number> = {
  [SearchAttributeType.TEXT]: 1,
  [SearchAttributeType.KEYWORD]: 2,
  [SearchAttributeType.INT]: 3,
  [SearchAttributeType.DOUBLE]: 4,
  [SearchAttributeType.BOOL]: 5,
  [SearchAttributeType.DATETIME]: 6,
  [SearchAttributeType.KEYWORD_LIST]: 7,
};

/** As the operator service's `addSearchAttributes` takes them. */
export function asRequest(attributes: readonly SearchAttribute[]): Record<string, number> {
  return Object.fromEntries(attributes.map(({ name, type }) => [name, indexedValueType[type]]));
}
