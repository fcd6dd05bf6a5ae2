import { invalidArchive } from '@backlot/service';
import { detectMediaType, headBytes } from '../media-types/media-type.ts';

/** Counts the bytes of a file as they pass, and keeps what tells its type. */
export const measureContent = (content: AsyncIterable<Uint8Array>, sizeBytes: number) => {
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let passedBytes = 0;
  const check = (isOver: boolean) => {
    if (passedBytes > sizeBytes || (isOver && passedBytes < sizeBytes))
      throw invalidArchive(`the file has not the ${sizeBytes} bytes of its line`);
  };
  return {
    async *pass(): AsyncGenerator<Buffer> {
      for await (const piece of content) {
        const block = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
        passedBytes += block.length;
        check(false);
        if (head.length < headBytes)
          head = Buffer.concat([head, block.subarray(0, headBytes - head.length)]);
        tail = Buffer.concat([tail, block.subarray(-headBytes)]).subarray(-headBytes);
        yield block;
      }
      check(true);
    },
    mediaType: (): Promise<string> => detectMediaType(head, sizeBytes, tail),
  };
};
