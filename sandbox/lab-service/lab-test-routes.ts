import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { labTestBody, questionsBody, type Json } from './order-body.js';
import { requireLabTest } from './order-requests.js';
import { inventedLab, labTests, type Marker } from './seed.js';
import {
  cursorPage,
  cursorQuery,
  optional,
  pageQuery,
  pathUuid,
  queryInteger,
  queryList,
  readQuery,
  uuid,
} from './validation.js';

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

const labTestQuery = z.object({
  name: z.string().default(''),
  status: optional(z.string()),
  collection_method: optional(z.string()),
  lab_slug: optional(z.string()),
  lab_account_id: optional(uuid),
  marker_ids: queryList(z.string()),
  provider_ids: queryList(z.string()),
  generation_method: z.enum(['manual', 'auto', 'all']).default('manual'),
  lab_test_limit: queryInteger(1, 100).default(50),
  ...cursorQuery,
});

/** The seed's lab tests, and the markers that they measure. */
export function labTestRoutes(app: FastifyInstance): void {
  app.get('/v3/lab_test', (request) => listLabTests(request.query));
  app.get('/v3/lab_tests/markers', (request) => listMarkers(request.query));
  app.get('/v3/lab_tests/:lab_test_id', (request) => labTestBody(requireLabTest(pathUuid(request, 'lab_test_id'))));
}

function listLabTests(query: unknown): Json {
  const filter = readQuery(labTestQuery, query);
  const { name, status, collection_method: method, lab_slug: slug, marker_ids: markerIds } = filter;
  const found = labTests.filter(
    (test) =>
      test.name.toLowerCase().includes(name.toLowerCase()) &&
      (status ?? 'active') === 'active' &&
      (method ?? test.method) === test.method &&
      (slug ?? inventedLab.slug) === inventedLab.slug &&
      // The laboratory's code of a marker is its id here.
      [...(markerIds ?? []), ...(filter.provider_ids ?? [])].every((id) =>
        test.markers.some((marker) => String(marker.id) === id),
      ) &&
      // The team made all of them.
      filter.generation_method !== 'auto',
  );
  const { items, next } = cursorPage(found, filter, filter.lab_test_limit);
  return { data: items.map(labTestBody), next_cursor: next };
}

function listMarkers(query: unknown): Json {
  const { lab_id, lab_slug, name, a_la_carte_enabled, page, size } = readQuery(markerQuery, query);
  const isOfLab =
    (lab_slug === null || lab_slug === inventedLab.slug) &&
    (lab_id === null || lab_id.includes(String(inventedLab.id)));
  // Every invented marker can be ordered alone.
  const found =
    isOfLab && a_la_carte_enabled !== 'false'
      ? allMarkers.filter((marker) => marker.name.toLowerCase().includes(name.toLowerCase()))
      : [];
  return {
    markers: found.slice((page - 1) * size, page * size).map(markerBody),
    total: found.length,
    page,
    size,
    pages: Math.ceil(found.length / size),
  };
}

const allMarkers: readonly Marker[] = [
  ...new Map(labTests.flatMap(({ markers }) => markers).map((marker) => [marker.id, marker])).values(),
];

function markerBody(marker: Marker): Json {
  const { id, name, slug, unit, loinc } = marker;
  return {
    id,
    name,
    slug,
    description: null,
    lab_id: inventedLab.id,
    provider_id: String(id),
    type: 'biomarker',
    unit,
    price: '12.50',
    aoe: questionsBody(marker),
    a_la_carte_enabled: true,
    common_tat_days: 2,
    worst_case_tat_days: 5,
    is_orderable: true,
    expected_results: [
      {
        ...{ id, name, slug, lab_id: inventedLab.id, provider_id: String(id), required: true },
        loinc: { id, name, slug, code: loinc, unit },
      },
    ],
  };
}
