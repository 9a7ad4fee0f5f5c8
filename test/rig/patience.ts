/**
 * How long a test waits for something that must come, in milliseconds. On an idle machine everything comes in a fraction
 * of it; a machine that does other work as well must not make a test fail.
 */
export const patienceMs = 90_000;
