#!/usr/bin/env node
import { CallFailed } from './api.ts';
import { createProgram } from './program.ts';

try {
  await createProgram().parseAsync();
} catch (error) {
  if (!(error instanceof CallFailed)) throw error;
  process.stderr.write(`${error.message}\n${error.hint ? `${error.hint}\n` : ''}`);
  process.exitCode = 1;
}
