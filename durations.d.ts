/**
 * Temporal types its durations ('7 days') by `ms` 3, whose package hides its declarations from nodenext resolution:
 * without this, every string would pass for a duration. The declarations of `ms` 2 say the same.
 */
declare module 'ms' {
  import ms = require('@types/ms/index.js');
  export = ms;
}
