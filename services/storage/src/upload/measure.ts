import { createHash } from 'node:crypto';
import type { ApiError } from '@backlot/contract';
import { freeChunk } from '@backlot/http';
import { detectMediaType, headBytes } from '../files/media-type.ts';
import type { SizeLimit } from '../files/quota.ts';

/** The form failed, not the store that read it. */
export class FormBroken extends Error {}

async function* formChunks(source: AsyncIterable<Buffer>) {
  try {
    yield* source;
  } catch (cause) {
    throw new FormBroken('the form broke off', { cause });
  }
}

export interface MeasureOptions {
  limit: SizeLimit;
  onEmpty: () => ApiError;
  /** Whether two streams are to be told apart: SHA-256 of 1 MiB takes 0.6 ms of the main thread. */
  hasDigest: boolean;
}

/** Counts a stream and keeps its begin; a chunk is freed when the next one is read. */
export const measure = ({ limit, onEmpty, hasDigest }: MeasureOptions) => {
  const hash = hasDigest ? createHash('sha256') : undefined;
  const head: Buffer[] = [];
  let headSize = 0;
  let sizeBytes = 0;
  return {
    async *through(source: AsyncIterable<Buffer>) {
      for await (const chunk of formChunks(source)) {
        sizeBytes += chunk.length;
        if (sizeBytes > limit.bytes) throw limit.error();
        hash?.update(chunk);
        if (headSize < headBytes) {
          head.push(Buffer.from(chunk.subarray(0, headBytes - headSize)));
          headSize += chunk.length;
        }
        yield chunk;
        freeChunk(chunk);
      }
      if (sizeBytes === 0) throw onEmpty();
    },
    result: async () => ({
      sizeBytes,
      digest: hash?.digest('hex'),
      mediaType: await detectMediaType(Buffer.concat(head), sizeBytes),
    }),
  };
};
