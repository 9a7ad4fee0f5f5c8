import type { Ajv, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import draft04 from 'ajv-draft-04';
import addFormats from 'ajv-formats';
import { type Description, isPart, listIn, type Part, partIn } from './description.js';
import { chosenWords } from './ids.js';

/** These packages are CommonJS, and their default export is a property of what Node imports. */
const Draft04 = draft04.default;

/** Validates values against the schemas of a description. */
export interface Schemas {
  /** Every fault of a value, as `patient_details.dob must be …`; none if it is valid. */
  faultsOf(schema: Part, value: unknown): string[];
}

/** An `id` in an example or a default would be taken for the name of a schema; `nullable` is written in another way. */
const left: ReadonlySet<string> = new Set(['example', 'examples', 'default', 'nullable', 'discriminator']);

/**
 * OpenAPI 3.1 uses JSON Schema 2020-12; 3.0 uses an older draft with `nullable`.
 *
 * @param coerces true for parameters and forms, which are texts on the wire
 */
export function schemasOf({ version, document }: Description, { coerces }: { coerces: boolean }): Schemas {
  const options = {
    strict: false,
    allErrors: true,
    validateFormats: true,
    logger: false as const,
    ...(coerces && { coerceTypes: 'array' as const }),
  };
  const ajv: Ajv = version === '3.0' ? new Draft04(options) : new Ajv2020(options);
  addFormats.default(ajv);
  const named = partIn(partIn(document, 'components'), 'schemas');
  ajv.addSchema({ definitions: mapped(named, version) }, 'components');
  const compiled = new Map<Part, ValidateFunction>();
  return {
    faultsOf: (schema, value) => {
      // Only a value inside another one can be coerced.
      const validate = compiled.get(schema) ?? ajv.compile({ properties: { value: written(schema, version) } });
      compiled.set(schema, validate);
      if (validate({ value: structuredClone(value) })) return [];
      const errors = validate.errors ?? [];
      // Of alternatives, what each of them demands says enough, and null adds nothing.
      const telling = errors.filter(
        ({ keyword, params }) => keyword !== 'anyOf' && keyword !== 'oneOf' && (params as Part)['type'] !== 'null',
      );
      return (telling.length > 0 ? telling : errors).map(({ instancePath, message = 'is not valid', params }) => {
        const more = Object.values(params as object).filter((each) => typeof each === 'string');
        const field = instancePath.split('/').slice(2).join('.') || 'it';
        return `${field} ${message}${more.length > 0 ? ` (${more.join(', ')})` : ''}`;
      });
    },
  };
}

function mapped(schemas: Part, version: Description['version']): Part {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, written(schema, version)]));
}

/** A schema as the validator takes it. */
function written(schema: unknown, version: Description['version']): unknown {
  if (Array.isArray(schema)) return schema.map((each) => written(each, version));
  if (!isPart(schema)) return schema;
  if (typeof schema['$ref'] === 'string') {
    const target = schema['$ref'].replace('#/components/schemas/', 'components#/definitions/');
    if (version === '3.0') return { $ref: target };
    return { ...(written({ ...schema, $ref: undefined }, version) as Part), $ref: target };
  }
  const isNullable = schema['nullable'] === true && version === '3.0';
  const entries = Object.entries(schema).filter(([name, value]) => value !== undefined && !left.has(name));
  const plain = Object.fromEntries(
    entries.map(([name, value]) => {
      if (name === 'properties' && isPart(value)) return [name, mapped(value, version)];
      if (name === 'enum') return [name, [...listIn(schema, name), ...Object.values(chosenWords)]];
      return [name, written(value, version)];
    }),
  );
  return isNullable ? { anyOf: [plain, { enum: [null] }] } : plain;
}
