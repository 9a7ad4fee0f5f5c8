/*
 * Runs once for each thread that executes workflows, before the first of them. The SDK takes a stack for every promise, so
 * that a query can show where a workflow waits, and maps each frame to its source. These few frames still name the line that
 * waits (docs/operations.md).
 */
Error.stackTraceLimit = 4;
