import { ApiError } from '@backlot/contract';
import { parseJson, roundedNumberRefusal } from '@backlot/http';
import type { JsonRecord } from '../../list/shown/shown-fields.ts';
import { lineTooLong, maxLineBytes, type ReadLine } from './read-line.ts';

const newline = 0x0a;
const byteOrderMark = Buffer.from('\ufeff');
const blank = /^[\s]*$/;

const parseRecord = (bytes: Buffer): JsonRecord => {
  const { value, text } = parseJson(bytes);
  const refusal = roundedNumberRefusal({ errors: ['invalid_data'] }, text);
  if (refusal) throw refusal;
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as JsonRecord;
  throw new ApiError('invalid_data', 'The line is no object.', {
    hint: 'NDJSON has one object a line, as jq -c ".[]" makes it of a list.',
  });
};

/** Lines of JSON as they come; of one that is too long no more is kept than that. */
export async function* ndjsonLines(
  chunks: AsyncIterable<Buffer>,
  firstLine: number,
): AsyncGenerator<ReadLine> {
  let line = firstLine;
  let held: Buffer[] = [];
  let heldBytes = 0;
  const hold = (bytes: Buffer) => {
    heldBytes += bytes.length;
    if (heldBytes > maxLineBytes) held = [];
    else if (bytes.length > 0) held.push(bytes);
  };
  const take = (): ReadLine | undefined => {
    const all = Buffer.concat(held);
    const isFirst = line === firstLine;
    const bytes =
      isFirst && all.subarray(0, 3).equals(byteOrderMark) ? Buffer.from(all.subarray(3)) : all;
    const isTooLong = heldBytes > maxLineBytes;
    const read = () => {
      if (isTooLong) throw lineTooLong();
      return parseRecord(bytes);
    };
    const taken = { line, next: line + 1, bytes: bytes.length, read };
    held = [];
    heldBytes = 0;
    line += 1;
    return !isTooLong && bytes.length < 100 && blank.test(bytes.toString()) ? undefined : taken;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      hold(chunk.subarray(start, end));
      start = end + 1;
      const taken = take();
      if (taken) yield taken;
    }
    hold(chunk.subarray(start));
  }
  const last = heldBytes > 0 ? take() : undefined;
  if (last) yield last;
}
