#!/usr/bin/env node
import { runLabops } from './process.js';

runLabops();
