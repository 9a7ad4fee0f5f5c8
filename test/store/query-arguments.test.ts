import { expect, test } from 'vitest';
import { all } from '../rig/all.js';
import { describeStores } from '../rig/stores.js';
import { glucose, receive, sample } from './received.js';

describeStores('a query', (rig) => {
  const samplesFrom = (from: string, to = '2026-01-06T00:00:00Z') =>
    all(rig().store.samples({ userId: 'asked', resource: 'glucose', from, to }));

  const days = ['yesterday-ish', '2026-02-30', '2026-01-05T00:00:00Z', '0000-01-01', ''];
  test.each(days)('is refused with the name of the field if %j is given as a day', async (day) => {
    const { store } = rig();
    const rule = 'is not a calendar date that exists, YYYY-MM-DD';
    await expect(store.summaries({ userId: 'asked', from: day })).rejects.toThrow(TypeError);
    await expect(store.summaries({ userId: 'asked', from: day })).rejects.toThrow(`summaries: from ${rule}`);
    await expect(store.summaries({ userId: 'asked', to: day })).rejects.toThrow(`summaries: to ${rule}`);
  });

  const instants = ['yesterday-ish', '2026-02-30T00:00:00Z', '1767607200', 'infinity', ''];
  test.each(instants)('is refused with the name of the field if %j is given as an instant', async (instant) => {
    const rule = 'is not an instant in ISO 8601, such as 2026-01-05T10:00:00Z';
    await expect(samplesFrom(instant)).rejects.toThrow(TypeError);
    await expect(samplesFrom(instant)).rejects.toThrow(`samples: from ${rule}`);
    await expect(samplesFrom('2026-01-05T00:00:00Z', instant)).rejects.toThrow(`samples: to ${rule}`);
  });

  test('is meant in UTC without a zone, wherever the database is', async () => {
    await receive(rig().store, glucose('asked', [sample('2026-01-05T10:00:00Z', 1)]));
    expect(await samplesFrom('2026-01-05T10:00:00')).toHaveLength(1);
    expect(await samplesFrom('2026-01-05 10:00:00.000001')).toHaveLength(0);
    expect(await samplesFrom('2026-01-05T12:30:00+02:30')).toHaveLength(1);
    expect(await samplesFrom('2026-01-05', '2026-01-06')).toHaveLength(1);
  });
});
