import { routes } from '@backlot/contract';
import { expect, it } from '@jest/globals';
import { createClient } from './index.ts';
import { type PartsOptions, uploadInParts } from './uploads.ts';

const file = { id: 'f', url: 'https://files.example.org/f', name: 'a.txt', size: 10 };
const at = (offset: number, isFile = false) =>
  Response.json({ id: 'u', offset, length: 10, file: isFile ? file : null });
const failed = (status: number, code: string) =>
  Response.json({ code }, { status, headers: { 'Retry-After': '0.001' } });

/** Each call is answered in turn; what was sent, and under which routes of the contract. */
const upload = async (
  answers: (Response | Error)[],
  options: PartsOptions = {},
  content = '0123456789',
) => {
  const sent: string[] = [];
  const client = createClient('https://api.example.org/api/runtime/demo', {
    retries: 0,
    storage: { get: () => null, set: () => {} },
    async fetch(input, init = {}) {
      const path = new URL(String(input)).pathname.replace('/api/runtime/demo', '');
      const route = routes.find(
        (candidate) =>
          candidate.method === init.method &&
          new RegExp(`^${candidate.path.replace(':id', '[^/]+')}$`).test(path),
      );
      const headers = new Headers(init.headers);
      expect(headers.get('tus-resumable')).toBe('1.0.0');
      const part = init.body instanceof Blob ? await init.body.text() : '';
      sent.push([route?.operationId, headers.get('upload-offset'), part].filter(Boolean).join(' '));
      const answer = answers.shift();
      if (answer === undefined || answer instanceof Error) throw answer ?? new TypeError('gone');
      return answer;
    },
  });
  const blob = new Blob([content]);
  const result = await uploadInParts(client, blob, { partBytes: 4, ...options }).catch(
    (error: unknown) => error,
  );
  return { sent, result };
};
const opened = () => Response.json({ id: 'u' }, { status: 201 });
const taken = () => new Response(null, { status: 204 });

it('sends part after part, then asks for the file', async () => {
  const progress: number[] = [];
  const { sent, result } = await upload([opened(), taken(), taken(), taken(), at(10, true)], {
    onProgress: (arrived) => progress.push(arrived),
  });
  expect(sent).toEqual([
    'createResumable',
    'appendResumable 0 0123',
    'appendResumable 4 4567',
    'appendResumable 8 89',
    'getResumable',
  ]);
  expect(progress).toEqual([4, 8, 10]);
  expect(result).toEqual(file);
});

it('sends no part of an empty file, which is one with the call that opens it', async () => {
  const empty = { ...file, size: 0 };
  const state = Response.json({ id: 'u', offset: 0, length: 0, file: empty });
  const { sent, result } = await upload([opened(), state], {}, '');
  expect(sent).toEqual(['createResumable', 'getResumable']);
  expect(result).toEqual(empty);
});

it.each([
  ['a broken connection', new TypeError('fetch failed')],
  ['a server that restarts', failed(503, 'unavailable')],
  ['the part before, still under way', failed(423, 'locked')],
  ['a part that arrived without its answer', failed(409, 'conflict')],
])('asks how far it came after %s, and goes on there', async (_name, failure) => {
  const { sent, result } = await upload([opened(), failure, at(3), taken(), taken(), at(10, true)]);
  expect(sent).toEqual([
    'createResumable',
    'appendResumable 0 0123',
    'getResumable',
    'appendResumable 3 3456',
    'appendResumable 7 789',
    'getResumable',
  ]);
  expect(result).toEqual(file);
});

it('gives up after so many failures in a row, and starts to count again when bytes arrive', async () => {
  const gone = () => failed(503, 'unavailable');
  const stuck = await upload([opened(), gone(), at(0), gone(), at(0), gone()], { retries: 2 });
  expect(stuck.result).toMatchObject({ code: 'unavailable' });
  expect(stuck.sent).toHaveLength(6);
  const slow = await upload(
    [opened(), gone(), at(1), gone(), at(2), gone(), at(3), gone(), at(10, true)],
    { retries: 1 },
  );
  expect(slow.result).toEqual(file);
});

it('does not repeat what is refused', async () => {
  const refused = await upload([opened(), failed(402, 'out_of_credits')]);
  expect(refused.result).toMatchObject({ code: 'out_of_credits' });
  expect(refused.sent).toHaveLength(2);
  const over = await upload([failed(404, 'not_found')], { id: 'old' });
  expect(over.result).toMatchObject({ code: 'not_found' });
  expect(over.sent).toEqual(['getResumable']);
});
