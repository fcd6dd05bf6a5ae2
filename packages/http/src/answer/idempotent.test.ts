import { recordRoutes } from '@backlot/contract';
import { anonymous, testProject } from '@backlot/testing';
import { expect, it } from '@jest/globals';
import { type IdempotencyStore, type IdempotentCall, runIdempotently } from './idempotent.ts';

it('a call with an Idempotency-Key says whose answer it has, and what is kept where that is too large', async () => {
  const calls: IdempotentCall[] = [];
  const run: IdempotencyStore['run'] = async (call) => {
    calls.push(call);
    return { answer: call.tooLarge(), replayed: true };
  };
  const send = (ownerId: string | null) =>
    runIdempotently(
      { run, runInOne: run, runSlow: () => Promise.reject(new Error('not slow')) },
      {
        definition: recordRoutes.createRecord,
        identity: anonymous({ project: { ...testProject, id: 'shop', ownerId } }),
        key: 'key',
        path: '/db/notes',
        text: '{}',
        requestId: 'the first',
      },
      () => Promise.reject(new Error('done again')),
      'usual',
    );
  const answer = await send('ada');
  expect(answer).toMatchObject({ status: 409, headers: { 'Idempotent-Replayed': 'true' } });
  expect(JSON.parse(answer.body)).toMatchObject({ code: 'conflict', requestId: 'the first' });
  await send(null);
  expect(calls.map(({ owner }) => owner)).toEqual(['ada', 'project shop']);
});
