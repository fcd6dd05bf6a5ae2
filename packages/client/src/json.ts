import { BacklotError } from './error.ts';

const upload = 'upload it by client.storage.upload(file), and keep the id or url that it answers';

/** What to do with a value that JSON would drop or turn into `{}`, by what it is. */
const ways: Readonly<Record<string, string>> = {
  File: upload,
  Blob: upload,
  FileList: upload,
  Map: 'send Object.fromEntries(map)',
  Set: 'send a list: [...set]',
  Promise: 'await it first',
  BigInt: 'send String(value)',
  Number: 'JSON has numbers without NaN and Infinity',
  Date: 'the date is invalid',
};

/** `File`, `Map`, `Object` and so on, whatever window the value comes from. */
const typeName = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

const plain = /^(Object|Array|String|Boolean|Null|Undefined)$/;

const isJson = (value: unknown, kind: string): boolean => {
  if (kind === 'Number') return Number.isFinite(Number(value));
  if (kind === 'Date') return !Number.isNaN(Number(value));
  return plain.test(kind) || typeof (value as { toJSON?: unknown }).toJSON === 'function';
};

const refuse = (path: readonly string[], problem: string): never => {
  const place = path.length > 0 ? `"${path.join('.')}"` : 'What is sent';
  throw new BacklotError(0, { code: 'not_json', error: `${place} ${problem}.` });
};

const check = (value: unknown, path: readonly string[], around: readonly object[]): void => {
  const kind = typeName(value);
  if (!isJson(value, kind)) {
    const way = ways[kind];
    refuse(path, `(${kind}) is no JSON${way ? `: ${way}` : ''}`);
  }
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return;
  if (around.includes(value)) refuse(path, 'holds itself: JSON has no circles');
  for (const [name, item] of Object.entries(value))
    check(item, [...path, name], [...around, value]);
};

/**
 * @param path names of what stands around the value
 * @throws BacklotError `not_json` that names the first value which would not arrive as it is
 */
export const toJson = (value: unknown, ...path: string[]): string => {
  check(value, path, []);
  return JSON.stringify(value);
};
