import { heldMemory, type Requester } from '@backlot/fair-shares';
import { JsonText, LargeJson } from '@backlot/http';
import { expect, it } from '@jest/globals';
import { holdAnswer } from './held-answer.ts';

const requester: Requester = ['owner', 'project', '192.0.2.1'];
const large = JSON.stringify('x'.repeat(70_000));

it('a large answer has a place until it was taken; the next one waits for it, and small ones for none', async () => {
  const answers = heldMemory({ places: 1 });
  const reader = { requester };
  const first = await holdAnswer(large, answers, reader);
  expect(first).toBeInstanceOf(LargeJson);
  expect(answers.usage().slow.running).toBe(1);
  const second = holdAnswer(large, answers, reader);
  expect(await holdAnswer('{}', answers, reader)).toBeInstanceOf(JsonText);
  expect(answers.usage().slow).toMatchObject({ running: 1, waiting: 1 });
  if (first instanceof LargeJson) first.parts.close();
  expect(await second).toBeInstanceOf(LargeJson);
});
