import { expect, it } from '@jest/globals';
import { watchServer } from './watch-server.ts';

it('a server is away after three failures in a row, until a call succeeds', async () => {
  const { succeeded, failed, find } = watchServer('mailer', 'degraded');
  failed();
  failed();
  succeeded();
  failed();
  failed();
  expect(await find()).toEqual({ name: 'mailer', state: 'works' });
  failed();
  expect(await find()).toEqual({ name: 'mailer', state: 'degraded', reason: 'calls_fail' });
  succeeded();
  expect(await find()).toEqual({ name: 'mailer', state: 'works' });
});
