import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { ApiError } from '@backlot/contract';
import { freeChunk } from '@backlot/http';
import type { SizeLimit } from '../files/quota.ts';
import { detectMediaType, headBytes } from '../media-types/media-type.ts';

/** The form failed, not the store that read it. */
export class FormBroken extends Error {}

/** A block is all that has come while the one before was used; a stream by itself hands on one buffer at a time. */
async function* formBlocks(source: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const first of source) {
      const pieces: Buffer[] = [first];
      while (source.readableLength > 0) pieces.push(source.read());
      yield pieces.length === 1 ? first : Buffer.concat(pieces);
    }
  } catch (cause) {
    throw new FormBroken('the form broke off', { cause });
  }
}

export interface MeasureOptions {
  limit: SizeLimit;
  onEmpty: () => ApiError;
  /** Whether two streams are to be told apart: a digest takes time of the main thread. */
  hasDigest: boolean;
}

/** Counts a stream and keeps its begin and its end; a block is freed when the next one is read. */
export const measure = ({ limit, onEmpty, hasDigest }: MeasureOptions) => {
  const hash = hasDigest ? createHash('sha256') : undefined;
  const head: Buffer[] = [];
  let headSize = 0;
  let tail = Buffer.alloc(0);
  let sizeBytes = 0;
  return {
    async *through(source: Readable) {
      for await (const block of formBlocks(source)) {
        sizeBytes += block.length;
        if (sizeBytes > limit.bytes) throw limit.error();
        hash?.update(block);
        if (headSize < headBytes) {
          head.push(Buffer.from(block.subarray(0, headBytes - headSize)));
          headSize += block.length;
        }
        // A copy: the block is freed.
        tail = Buffer.concat([tail, block.subarray(-headBytes)]).subarray(-headBytes);
        yield block;
        freeChunk(block);
      }
      if (sizeBytes === 0) throw onEmpty();
    },
    result: async () => ({
      sizeBytes,
      digest: hash?.digest('hex'),
      mediaType: await detectMediaType(Buffer.concat(head), sizeBytes, tail),
    }),
  };
};
