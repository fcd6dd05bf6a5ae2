import { describe, expect, it } from '@jest/globals';
import { createLogger } from './logger.ts';

const logged = (fields: object): string => {
  const lines: string[] = [];
  const log = createLogger({
    service: 'unit',
    destination: { write: (line) => void lines.push(line) },
  });
  log.info(fields, 'message');
  return lines.join('');
};

describe('the log', () => {
  it.each([
    'password',
    'currentPassword',
    'newPassword',
    'token',
    'key',
    'authorization',
    'secret',
    'cookie',
  ])('never shows a %s, at the top or up to two levels down', (name) => {
    for (const fields of [
      { [name]: 'hush' },
      { body: { [name]: 'hush' } },
      { req: { headers: { [name]: 'hush' } } },
    ]) {
      const line = logged(fields);
      expect(line).not.toContain('hush');
      expect(line).toContain('[removed]');
    }
  });

  it.each(['cause', 'err'])('takes an aborted wait as %s', (name) => {
    const line = logged({ [name]: AbortSignal.abort().reason, requestId: 'r1' });
    expect(JSON.parse(line)).toMatchObject({ requestId: 'r1', msg: 'message' });
  });

  it('keeps what the cause of a failure says in plain values', () => {
    const cause = Object.assign(new Error('no'), { code: '23505', position: 7, client: { a: 1 } });
    expect(JSON.parse(logged({ cause })).cause).toEqual({ code: '23505', position: 7 });
  });

  it('names the service, the time and the message, and keeps everything else', () => {
    expect(JSON.parse(logged({ requestId: 'r1' }))).toMatchObject({
      service: 'unit',
      requestId: 'r1',
      msg: 'message',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
  });
});
