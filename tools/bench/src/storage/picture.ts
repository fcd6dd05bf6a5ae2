import { randomFillSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';

const signature = Buffer.from('89504e470d0a1a0a', 'hex');
const bitsPerChannel = 8;
const trueColour = 2;

const pngChunk = (name: string, data: Buffer) => {
  const named = Buffer.concat([Buffer.from(name), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
};

/** A PNG of noise below, and nothing above (ISO/IEC 15948). */
export const makePicture = (width: number, height: number): Uint8Array<ArrayBuffer> => {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([bitsPerChannel, trueColour], 8);
  // Each line starts with its filter: none.
  const line = 1 + 3 * width;
  const pixels = Buffer.alloc(height * line);
  const noisy = Math.floor(height / 4);
  randomFillSync(pixels, 0, noisy * line);
  for (let y = 0; y < noisy; y++) pixels[y * line] = 0;
  return Buffer.concat([
    signature,
    pngChunk('IHDR', head),
    pngChunk('IDAT', deflateSync(pixels)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
};

export const writePicture = (folder: string, width: number, height: number): string => {
  const path = join(folder, 'picture.png');
  writeFileSync(path, makePicture(width, height));
  return path;
};
