import { createHash } from 'node:crypto';
import type { ApiError } from '@backlot/contract';
import { freeChunk } from '@backlot/http';
import { headBytes, mediaTypeOf } from '../media-type.ts';

/** The most that the file may have, and what is answered past it. */
export interface Cap {
  bytes: number;
  error(): ApiError;
}

/** It is the form that failed the store, not the other way round. */
export class FormBroken extends Error {}

async function* chunksOf(source: AsyncIterable<Buffer>) {
  try {
    yield* source;
  } catch (cause) {
    throw new FormBroken('the form broke off', { cause });
  }
}

/** Counts, hashes and keeps the begin of what passes; each chunk is freed when the next is asked for. */
export const measure = (cap: Cap, onEmpty: () => ApiError) => {
  const hash = createHash('sha256');
  const head: Buffer[] = [];
  let headSize = 0;
  let sizeBytes = 0;
  return {
    async *through(source: AsyncIterable<Buffer>) {
      for await (const chunk of chunksOf(source)) {
        sizeBytes += chunk.length;
        if (sizeBytes > cap.bytes) throw cap.error();
        hash.update(chunk);
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
      sha256: hash.digest(),
      mediaType: await mediaTypeOf(Buffer.concat(head), sizeBytes),
    }),
  };
};
