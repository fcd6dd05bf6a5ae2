import { randomBytes } from 'node:crypto';

const toNumber = (id: string) => BigInt(`0x${id.replaceAll('-', '')}`);
const toId = (value: bigint) =>
  value
    .toString(16)
    .padStart(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** Evenly spread from `first` up to below `end`. */
export const randomIds = (first: string, end: string, count: number): string[] => {
  const low = toNumber(first);
  const range = toNumber(end) - low;
  const random = () => BigInt(`0x${randomBytes(16).toString('hex')}`);
  return Array.from({ length: count }, () => toId(low + ((random() * range) >> 128n)));
};
