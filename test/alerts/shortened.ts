/**
 * The rules in a form that a story can wait for: the expressions stay, windows become 20 seconds, waits 2, and the limits of attention 5.
 * The pollers' day becomes five minutes.
 */
export function shortened(rules: string): string {
  return rules
    .replaceAll(/for: \d+[mh]/g, 'for: 2s')
    .replaceAll('[1d]', '[5m]')
    .replaceAll(/\[(2|5|10|15)[mh]\]/g, (window) => (window === '[5m]' ? '[5m]' : '[20s]'))
    .replaceAll(/(latency_seconds_bucket\{[^}]*\})\[5m\]/g, '$1[20s]')
    .replaceAll('offset 15m', 'offset 20s')
    .replaceAll(/> (86400|3600)\b/g, '> 5');
}
