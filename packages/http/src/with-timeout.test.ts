import { expect, it } from '@jest/globals';
import { withTimeout } from './with-timeout.ts';

it('answers what comes in time, and throws what fails in time', async () => {
  expect(await withTimeout(async () => 'in time', 60_000)).toBe('in time');
  const failing = withTimeout(() => Promise.reject(new Error('failed')), 60_000);
  await expect(failing).rejects.toThrow('failed');
});

it('aborts what comes late, and drops its failure', async () => {
  const waiting = withTimeout(
    (signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
    1,
  );
  expect(await waiting).toBeUndefined();
});
