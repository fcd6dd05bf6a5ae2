import { randomUUID } from 'node:crypto';
import type { LoggedCall } from '@backlot/contract';

/** A line of the log of calls: a visitor's list that went well. */
export const line = (changes: Partial<LoggedCall> = {}): LoggedCall => ({
  at: new Date().toISOString(),
  requestId: randomUUID(),
  method: 'GET',
  route: '/db/:collection',
  path: '/db/notes',
  status: 200,
  code: null,
  error: null,
  hint: null,
  fields: null,
  ms: 3,
  millicredits: 0,
  requestBytes: null,
  responseBytes: 900,
  caller: 'visitor',
  userId: null,
  keyId: null,
  address: '203.0.113.0/24',
  client: 'shop.example',
  skipped: 0,
  ...changes,
});

export const failing = (changes: Partial<LoggedCall> = {}): LoggedCall =>
  line({
    status: 400,
    code: 'invalid_body',
    error: '"title" is missing.',
    fields: ['data'],
    ...changes,
  });
