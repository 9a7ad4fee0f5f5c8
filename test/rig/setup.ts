import { afterAll } from 'vitest';
import { stopProcesses } from './processes.js';

afterAll(stopProcesses);
