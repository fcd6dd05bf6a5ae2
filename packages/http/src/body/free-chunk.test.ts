import { expect, it } from '@jest/globals';
import { createBufferRelease } from './free-chunk.ts';

it('a buffer is freed when all of its chunks are sent and the next buffer has come', () => {
  const [first, second] = [1, 2].map(() => Buffer.allocUnsafeSlow(64 * 1024));
  const takeChunk = createBufferRelease();
  const sent = [first?.subarray(9, 100), first?.subarray(100), second?.subarray(0, 50)].map(
    (chunk) => takeChunk(chunk ?? Buffer.alloc(0)),
  );
  const sizes = () => [first?.buffer.byteLength, second?.buffer.byteLength];
  sent[1]?.();
  sent[2]?.();
  expect(sizes()).toEqual([65_536, 65_536]);
  sent[0]?.();
  expect(sizes()).toEqual([0, 65_536]);
});

it('a buffer that others share is not freed', () => {
  const takeChunk = createBufferRelease();
  const chunk = Buffer.from('of the pool');
  expect(Buffer.from('another').buffer).toBe(chunk.buffer);
  takeChunk(chunk)();
  takeChunk(Buffer.allocUnsafeSlow(64 * 1024))();
  expect(chunk.toString()).toBe('of the pool');
});
