#!/usr/bin/env node
import { runLabops } from './program.js';

runLabops();
