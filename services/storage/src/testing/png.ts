import { crc32, deflateSync } from 'node:zlib';

/** As the head of a PNG says it; eight bits of grey unless `head` (depth, colours, three methods) says otherwise. */
interface PngHead {
  width: number;
  height: number;
  head?: readonly number[];
}

/** A PNG whose head says how large it is, and which holds next to nothing. */
export const encodePng = ({ width, height, head = [8] }: PngHead): Buffer => {
  const chunk = (type: string, data: Buffer) => {
    const named = Buffer.concat([Buffer.from(type), data]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    check.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, check]);
  };
  const headBytes = Buffer.alloc(13);
  headBytes.writeUInt32BE(width, 0);
  headBytes.writeUInt32BE(height, 4);
  headBytes.set(head, 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', headBytes),
    chunk('IDAT', deflateSync(Buffer.alloc(100_000))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};
