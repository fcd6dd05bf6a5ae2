import { describe, expect, it } from '@jest/globals';
import { createErrorDescription } from './describe-error.ts';
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

  it('says type, message, codes and causes of an error, and nothing else that hangs on it', () => {
    const cause = Object.assign(new Error('no'), { code: '23505', position: 7, client: { a: 1 } });
    const err = new TypeError('failed', { cause });
    expect(JSON.parse(logged({ err })).err).toEqual({
      type: 'TypeError',
      message: 'failed',
      stack: expect.stringContaining('    at '),
      cause: {
        type: 'Error',
        message: 'no',
        code: '23505',
        position: 7,
        stack: expect.any(String),
      },
    });
  });

  it.each(['err', 'error', 'cause', 'reason'])(
    'never shows what libraries hang on their errors, as %s, in causes and in gathered ones',
    (name) => {
      const carriers = () => ({
        command: { name: 'auth', args: ['app', 'hush'] },
        config: { headers: { Authorization: 'hush' } },
        detail: 'Key (mail)=(hush) already exists.',
        input: 'hush',
      });
      const inner = Object.assign(new Error('WRONGPASS'), carriers());
      const thrown = Object.assign(new AggregateError([inner], 'gathered'), carriers());
      for (const error of [inner, thrown, new Error('outer', { cause: inner })]) {
        const line = logged({ [name]: error });
        expect(line).toContain('WRONGPASS');
        expect(line).not.toContain('hush');
      }
      expect(logged({ err: carriers() })).not.toContain('hush');
    },
  );

  it('cuts the password out of an address that an error names', () => {
    const line = logged({ err: new Error('no way to redis://app:hush@redis:6379/0') });
    expect(line).toContain('redis://redis:6379/0');
    expect(line).not.toContain('hush');
  });

  it('ends with the error’s causes, however deep they are, even where they go in a circle', () => {
    const circle = new Error('round');
    circle.cause = circle;
    expect(logged({ err: circle }).length).toBeLessThan(20_000);
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

it('the stack of a place is written once a minute, other places’ at once', () => {
  let nowMs = 0;
  const describeError = createErrorDescription(() => nowMs);
  const here = (n: number) => new Error(`failure ${n}`);
  const hasStack = (error: Error) => 'stack' in Object(describeError(error));
  const [first, second, third] = [1, 2, 3].map(here);
  const elsewhere = new Error('failure 1');
  expect([first, second, elsewhere].map((error) => error && hasStack(error))).toEqual([
    true,
    false,
    true,
  ]);
  nowMs = 60_000;
  expect(third && hasStack(third)).toBe(true);
});
