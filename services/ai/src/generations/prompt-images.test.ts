import { aiRoutes, type ImageAnswer, type ImageAsking } from '@backlot/contract';
import { asUser } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { CompletionRequest } from '../model-provider/model-provider.ts';
import { fakeProvider, parseEvents } from '../testing/fake-provider.ts';
import { createTestBed, reserved, type TestBed } from '../testing/test-bed.ts';

const mine = '018f0000-0000-4000-8000-0000000000f1';
const other = '018f0000-0000-4000-8000-0000000000f2';
const hidden = '018f0000-0000-4000-8000-0000000000f3';
const bytes = Buffer.from('a picture');
const image = (fileId: string) => ({ type: 'image', fileId });
const text = (words: string) => ({ type: 'text', text: words });
const show = (...content: object[]) => ({ messages: [{ role: 'user', content }] });

const stored = ({ fileId }: ImageAsking): ImageAnswer =>
  [mine, other].includes(fileId)
    ? { data: bytes.toString('base64') }
    : { refused: { code: 'not_found', message: 'There is no such file.' } };

describe('images among the parts of messages', () => {
  let bed: TestBed;
  const asked: CompletionRequest[] = [];
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    bed.answerImages(stored);
    bed.imagesAsked.length = 0;
    asked.length = 0;
    await bed.takeUsage();
  });

  it('are read under the rights of the caller, seen by the demo, and priced by the contract', async () => {
    const { project, reservation } = reserved(10_000);
    const groups = [{ id: 'g', role: 'member' }];
    const identity = asUser('018f0000-0000-7000-8000-0000000000a1', {
      groups,
      ...(reservation && { reservation }),
    });
    const answer = await bed.ask(show(text('What is this?'), image(mine)), { identity });
    expect(answer.status).toBe(200);
    expect(answer.body.text).toContain('(with one image of 9 bytes) What is this?');
    const { id, number, ownerId } = project;
    expect(bed.imagesAsked).toEqual([
      {
        project: { id, number, ownerId },
        caller: 'user',
        userId: identity.userId,
        groups,
        ip: identity.ip,
        fileId: mine,
      },
    ]);
    const [usage] = await bed.takeUsage();
    expect(usage?.millicredits).toBeGreaterThan(aiRoutes.imageTokens);
    expect(usage?.millicredits).toBeLessThan(aiRoutes.imageTokens + 100);
  });

  it('come to the model in their order, read once each and counted as often as they stand there', async () => {
    bed.useProvider(
      fakeProvider(async (request) => {
        asked.push(request);
        return { text: 'fine', promptTokens: 9, outputTokens: 1, isCut: false };
      }),
    );
    const parts = [image(mine), text('or'), image(other), text('or'), image(mine)];
    expect((await bed.ask(show(...parts))).body).toEqual({ text: 'fine' });
    expect(bed.imagesAsked.map(({ fileId }) => fileId)).toEqual([mine, other]);
    expect(asked[0]?.messages).toEqual([{ role: 'user', text: 'oror', parts }]);
    expect([...(asked[0]?.images?.keys() ?? [])]).toEqual([mine, other]);
    const once = aiRoutes.promptTokensAtMost(show(text('oror')));
    expect(aiRoutes.promptTokensAtMost(show(...parts))).toBe(once + 3 * aiRoutes.imageTokens);
  });

  it('of strangers are no files: 404, no model asked, nothing charged, in streams too', async () => {
    bed.useProvider(
      fakeProvider(async (request) => {
        asked.push(request);
        return { text: 'fine', promptTokens: 9, outputTokens: 1, isCut: false };
      }),
    );
    const body = show(text('Who is this?'), image(mine), image(hidden));
    const answer = await bed.ask(body);
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(answer.body.error).toContain(hidden);
    expect(answer.headers.get('x-backlot-usage')).toBeNull();
    const stream = await bed.open({ ...body, stream: true });
    expect(stream.status).toBe(404);
    await stream.text();
    expect(asked).toEqual([]);
    expect(await bed.takeUsage()).toEqual([]);
  });

  it('that are none, or can not be read now, are told as such and not charged', async () => {
    for (const [refused, status, code] of [
      [{ code: 'invalid_query', message: 'it is no image.' }, 400, 'invalid_body'],
      [{ code: 'overloaded', message: 'Too many.' }, 503, 'overloaded'],
    ] as const) {
      bed.answerImages(() => ({ refused }));
      const answer = await bed.ask(show(image(mine)));
      expect(answer).toMatchObject({ status, body: { code } });
      expect(answer.body.error).toContain(`"messages": the image ${mine}`);
    }
    bed.answerImages(() => {
      throw new Error('storage is down');
    });
    expect(await bed.ask(show(image(mine)))).toMatchObject({ status: 503 });
    expect(await bed.takeUsage()).toEqual([]);
  });

  it('are refused past their number, from others than the user, and with ids of none', async () => {
    const refusals = [
      show(...Array.from({ length: 5 }, () => image(mine))),
      { messages: [{ role: 'system', content: [image(mine)] }, ...show(text('x')).messages] },
      { messages: [{ role: 'assistant', content: [image(mine)] }, ...show(text('x')).messages] },
      show(image('photo.jpg')),
      show({ type: 'image' }),
      show({ type: 'image_url', image_url: { url: 'http://127.0.0.1/' } }),
    ];
    for (const body of refusals) {
      const answer = await bed.ask(body);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
      expect(answer.body.error).toContain('"messages');
    }
    expect(bed.imagesAsked).toEqual([]);
  });

  it('leave the memory of the process with the answer, however the call ends', async () => {
    const identity = reserved(20_000);
    for (let n = 0; n < 70; n++) {
      const body = show(image(n % 3 === 0 ? hidden : mine));
      if (n % 2 === 0) await bed.ask(body, { identity });
      else await (await bed.open({ ...body, stream: true }, { identity })).text();
    }
    bed.useProvider(
      fakeProvider(async () => {
        throw new Error('broken');
      }),
    );
    for (let n = 0; n < 30; n++) await bed.ask(show(image(mine)), { identity });
    bed.useProvider(
      fakeProvider(async () => ({
        text: 'fine',
        promptTokens: 9,
        outputTokens: 1,
        isCut: false,
      })),
    );
    const stream = await bed.open({ ...show(image(mine)), stream: true }, { identity });
    expect(parseEvents(await stream.text()).at(-1)?.data).toEqual({ text: 'fine' });
  });
});
