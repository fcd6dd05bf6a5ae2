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

  it('names the service, the time and the message, and keeps everything else', () => {
    expect(JSON.parse(logged({ requestId: 'r1' }))).toMatchObject({
      service: 'unit',
      requestId: 'r1',
      msg: 'message',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
  });
});
