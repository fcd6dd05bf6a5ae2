import { expect, it } from '@jest/globals';
import { clientWith } from './testing/recorded-client.ts';

const messages = [{ role: 'user' as const, content: 'Hello' }];

it('reads a stream that is cut anywhere, and says when it broke off', async () => {
  const events =
    'event: delta\ndata: {"text":"Grüß "}\n\nevent: delta\ndata: {"text":"Gott"}\n\nevent: done\ndata: {"text":"Grüß Gott"}\n\n';
  const streamed = (text: string) => () => {
    const bytes = new TextEncoder().encode(text);
    return new Response(
      new ReadableStream({
        start(controller) {
          for (let at = 0; at < bytes.length; at += 3) controller.enqueue(bytes.slice(at, at + 3));
          controller.close();
        },
      }),
    );
  };
  const { client } = clientWith([streamed(events)]);
  const stream = client.ai.stream({ messages });
  const parts: string[] = [];
  let step = await stream.next();
  for (; !step.done; step = await stream.next()) parts.push(step.value);
  expect([parts, step.value]).toEqual([['Grüß ', 'Gott'], { text: 'Grüß Gott' }]);

  const drain = async (from: AsyncGenerator<string>) => {
    for await (const part of from) parts.push(part);
  };
  const broken = clientWith([streamed(events.slice(0, 60))]).client.ai.stream({ messages });
  await expect(drain(broken)).rejects.toMatchObject({ code: 'network' });
  const failed = clientWith([streamed('event: error\ndata: {"code":"upstream_failed"}\n\n')]);
  await expect(drain(failed.client.ai.stream({ messages }))).rejects.toMatchObject({
    code: 'upstream_failed',
  });
});
