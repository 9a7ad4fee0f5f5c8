import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Json } from './order-body.js';
import { LAB, LAB_TESTS, type Marker } from './seed.js';
import { optional, pageQuery, queryList, readQuery, uuid } from './validation.js';

const truth = optional(z.enum(['true', 'false']));

const markerQuery = z.object({
  lab_id: queryList(z.string()),
  lab_slug: optional(z.string()),
  name: z.string().default(''),
  a_la_carte_enabled: truth,
  include_pricing: truth,
  lab_account_id: optional(uuid),
  ...pageQuery,
});

/** Markers: what the seed's lab tests measure. */
export function labTestRoutes(app: FastifyInstance): void {
  app.get('/v3/lab_tests/markers', (request) => listMarkers(request.query));
}

function listMarkers(query: unknown): Json {
  const { lab_id, lab_slug, name, a_la_carte_enabled, page, size } = readQuery(markerQuery, query);
  const isOfLab = (lab_slug === null || lab_slug === LAB.slug) && (lab_id === null || lab_id.includes(String(LAB.id)));
  // Every invented marker can be ordered alone.
  const found =
    isOfLab && a_la_carte_enabled !== 'false'
      ? MARKERS.filter((marker) => marker.name.toLowerCase().includes(name.toLowerCase()))
      : [];
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
