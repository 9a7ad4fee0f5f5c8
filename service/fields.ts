import { z } from 'zod';
import { canonicalId } from './canonical-id.js';
import { withZone } from './timestamps.js';

/*
 * The fields of everything that the service sends, in answers and in webhooks. A field of the wrong type counts as absent. An order
 * must not be blocked because its `has_abn` is "no".
 */

/** Beyond the safe integers JSON has lost digits: such a number would name something else. */
const numberAsText = z.int().transform(String);

export const text = z.union([z.string(), numberAsText]).nullish().catch(undefined);
/** An empty text counts as absent. */
export const filledText = text.transform((sent) => (sent === '' ? undefined : sent)).optional();
/** A value that is documented as text; a deployment that sends the number means its digits. */
export const value = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .catch(undefined);
export const timestamp = z.string().transform(withZone).nullish().catch(undefined);
export const flag = z.boolean().nullish().catch(undefined);
/** A number, which a deployment may write as a text. */
export const number = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\s*-?\d+(?:\.\d+)?\s*$/)
      .transform(Number),
  ])
  .nullish()
  .catch(undefined);

export function part<T extends z.ZodType>(part: T) {
  return part.nullish().catch(undefined);
}

/** Anything but an object of this shape is left out. */
export function readable<T extends z.ZodType>(entry: T, sent: readonly unknown[]): z.output<T>[] {
  return sent.flatMap((each): z.output<T>[] => {
    const { data } = entry.safeParse(each);
    return data == null ? [] : [data];
  });
}

/** A list of its readable entries. */
export function list<T extends z.ZodType>(entry: T) {
  return part(z.array(z.unknown()).transform((sent) => readable(entry, sent)));
}

/** By name, the readable entries. */
export function record<T extends z.ZodType>(entry: T) {
  return part(
    z.record(z.string(), z.unknown()).transform((sent): Record<string, z.output<T>> => {
      const pairs = Object.entries(sent).map(([name, value]) => [name, entry.safeParse(value).data] as const);
      return Object.fromEntries(pairs.filter(([, value]) => value != null)) as Record<string, z.output<T>>;
    }),
  );
}

/**
 * A list as an answer. It must be present, but one untidy entry does not hide the others: entries of another shape are
 * left out, and still counted in `sent`, which paging uses. If no entry can be read, the answer is unreadable, not an
 * empty list.
 */
export function answeredList<T extends z.ZodType>(entry: T) {
  return z
    .array(z.unknown())
    .transform((sent) => ({ items: readable(entry, sent), sent: sent.length }))
    .refine(({ items, sent }) => items.length > 0 || sent === 0, 'none of the entries can be read');
}

/** An identifier: text of any form; a number is read as its digits, and a UUID in lower case. */
export const id = z
  .union([z.string(), numberAsText])
  .refine((id) => id !== '', 'must not be empty')
  .transform(canonicalId);

/** The id of something else, which may be absent. */
export const referredId = id.nullish().catch(undefined);
