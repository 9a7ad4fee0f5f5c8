#!/usr/bin/env node

/*
 * `labops` of the repository and of the image: that of the client's package, and `doctor`, `replay`, `migrate` and `audit`, which need the worker's settings.
 * Each is loaded only if it runs: together they take twice as long to start.
 */

const args = process.argv.slice(2);
const withValue = ['--task-queue', '--timeout', '--address', '--namespace', '--identity', '--actor'];
const command = args.findIndex((arg, index) => !arg.startsWith('-') && !withValue.includes(args[index - 1] ?? ''));
if (args[command] === 'doctor') {
  const { doctor } = await import('./doctor.js');
  process.exit(await doctor(args.toSpliced(command, 1)));
}
if (args[command] === 'replay') {
  const [{ replay }, { runProgram }] = await Promise.all([import('./replay.js'), import('./process.js')]);
  await runProgram(() => replay(args.toSpliced(command, 1)));
}
if (args[command] === 'migrate') {
  const [{ migrate }, { runProgram }] = await Promise.all([import('./migrate.js'), import('./process.js')]);
  await runProgram(() => migrate(args.toSpliced(command, 1)));
}
if (args[command] === 'audit') {
  const [{ audit }, { runProgram }] = await Promise.all([import('./audit.js'), import('./process.js')]);
  await runProgram(() => audit(args.toSpliced(command, 1)));
}
await import('../client/command-line/labops.js');
