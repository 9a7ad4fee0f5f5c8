import ms from 'ms';
import type { Duration } from '../../../protocol/time.js';
import type { Settings } from '../../../protocol/policy/settings.js';

type Changeable<Setting> = { -readonly [Name in keyof Setting]: Setting[Name] };

/** Gives every setting another default, within its bounds. */
export function otherDefaults(table: Settings): void {
  for (const setting of Object.values(table) as Changeable<Settings[string]>[]) {
    if (setting.kind === 'duration') setting.default = otherSpan(setting.default, setting.most);
    else if (setting.kind === 'deadline') setting.default = otherSpan(setting.default as Duration, Infinity);
    else if (setting.kind === 'dates') setting.default = ['2026-12-25'];
    else if (setting.kind === 'durations') setting.default = setting.default.map((span) => otherSpan(span, Infinity));
    else if (setting.kind === 'count') setting.default += 1;
    else if (setting.kind === 'following') setting.defaultFrom = (span) => span * 3;
    else setting.default = setting.choices.find((choice) => choice !== setting.default) ?? setting.default;
  }
}

function otherSpan(usual: Duration, most: number): Duration {
  const span = ms(usual);
  return `${span * 1.7 <= most ? span * 1.7 : span * 0.6}ms`;
}
