import type { FastifyInstance } from 'fastify';
import type { Json } from './order-body.js';
import { LAB, LAB_TESTS, type Marker } from './seed.js';
import { Fields, oneOf, uuid } from './validation.js';

const LARGEST_PAGE = 100;

/** Markers: what the seed's lab tests measure. */
export function labTestRoutes(app: FastifyInstance): void {
  app.get('/v3/lab_tests/markers', (request) => listMarkers(request.query));
}

function listMarkers(query: unknown): Json {
  const fields = Fields.ofQuery(query);
  const labIds = fields.optionalStrings('lab_id');
  const labSlug = fields.optionalString('lab_slug');
  const name = (fields.optionalString('name') ?? '').toLowerCase();
  const alone = fields.optionalString('a_la_carte_enabled', oneOf('true', 'false'));
  fields.optionalString('include_pricing', oneOf('true', 'false'));
  fields.optionalString('lab_account_id', uuid);
  const page = fields.queryInteger('page', 1, { min: 1, max: Number.MAX_SAFE_INTEGER });
  const size = fields.queryInteger('size', 50, { min: 1, max: LARGEST_PAGE });
  fields.finish();
  const isOfLab = (labSlug === null || labSlug === LAB.slug) && (labIds === null || labIds.includes(String(LAB.id)));
  // Every invented marker can be ordered alone.
  const found =
    isOfLab && alone !== 'false' ? MARKERS.filter((marker) => marker.name.toLowerCase().includes(name)) : [];
  return {
    markers: found.slice((page - 1) * size, page * size).map(markerBody),
    total: found.length,
    page,
    size,
    pages: Math.ceil(found.length / size),
  };
}

const MARKERS: readonly Marker[] = [
  ...new Map(LAB_TESTS.flatMap(({ markers }) => markers).map((marker) => [marker.id, marker])).values(),
];

function markerBody({ id, name, slug, unit, loinc }: Marker): Json {
  return {
    id,
    name,
    slug,
    description: null,
    lab_id: LAB.id,
    provider_id: String(id),
    type: 'biomarker',
    unit,
    price: '12.50',
    aoe: null,
    a_la_carte_enabled: true,
    common_tat_days: 2,
    worst_case_tat_days: 5,
    is_orderable: true,
    expected_results: [
      {
        ...{ id, name, slug, lab_id: LAB.id, provider_id: String(id), required: true },
        loinc: { id, name, slug, code: loinc, unit },
      },
    ],
  };
}
