import { expect, test } from 'vitest';
import { readCommandLine, readDemoConfig } from '../../../sandbox/demo/config.js';

test('an act that the demo does not have is refused with the usage', () => {
  expect(() => readCommandLine(['--act', '9'])).toThrow(
    /--act is "9": give a number from 1 to 8[\s\S]+Usage: npm run demo/,
  );
});

test('all invalid settings are named at once', () => {
  const env = { DEMO_UI_PORT: 'eighty', DEMO_DAY_SECONDS: '0', DEMO_PROGRAMS: '/nowhere' };
  expect(() => readDemoConfig(env)).toThrow(
    /DEMO_UI_PORT is "eighty"[\s\S]+DEMO_DAY_SECONDS is "0"[\s\S]+DEMO_PROGRAMS is "\/nowhere": .+npm run build/,
  );
});
