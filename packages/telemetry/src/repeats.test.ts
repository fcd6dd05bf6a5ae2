import { expect, it } from '@jest/globals';
import { countRepeats, type RepeatedFailure } from './repeats.ts';

it('a failure that repeats is written once, then counted once a minute; another kind at once', () => {
  let nowMs = 0;
  const lines: RepeatedFailure[] = [];
  const failed = countRepeats(
    (line) => void lines.push(line),
    () => nowMs,
  );
  const away = Object.assign(new Error('no Redis'), { code: 'ECONNREFUSED' });
  for (let second = 0; second < 150; second++) {
    nowMs = second * 1000;
    failed(away);
  }
  expect(lines.map(({ repeated }) => repeated)).toEqual([undefined, 59, 59]);
  const refused = new Error('WRONGPASS');
  failed(refused);
  expect(lines.at(-1)).toEqual({ err: refused, repeated: 29 });
});
