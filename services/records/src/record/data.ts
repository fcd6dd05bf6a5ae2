import { ApiError, maxRecordBytes } from '@backlot/contract';
import { isStorableText, isSystemField, keyProblem, maxDepth } from '../fields.ts';

/** docs/api.md, "Records". The table checks both again, because a merge can exceed them. */
export const maxDataBytes = maxRecordBytes;
export const maxKeys = 1024;

export type Data = Record<string, unknown>;

const tooLarge = `data is larger than ${maxDataBytes} bytes.`;

const refuse = (message: string): never => {
  throw new ApiError('invalid_data', message);
};

/** `data.items[3].price`, of a path cut where it is long. */
const formatPath = (path: readonly (string | number)[]): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step.slice(0, 60)}`))
    .join('')
    .replace(/^/, 'data')
    .toWellFormed()
    .slice(0, 200);

/** How much longer PostgreSQL writes a finite double than JSON.stringify: without an exponent. */
const extraDigits = (value: number): number => {
  const size = Math.abs(value);
  if ((size >= 1e-6 && size < 1e21) || size === 0) return 0;
  const text = JSON.stringify(value);
  const [, sign = '', , decimals = '', exponent = ''] =
    /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? [];
  const power = Number(exponent);
  return sign.length + (power > 0 ? power + 1 : 2 - power + decimals.length) - text.length;
};

/** Walks a document once and keeps the path to the current value, which an error names. */
class DataValidator {
  readonly #path: (string | number)[] = [];
  #keys = 0;
  #values = 0;
  /** What PostgreSQL's text has more than JSON.stringify's: spaces, and digits for exponents. */
  extraBytes = 0;

  value(value: unknown, depth: number): void {
    this.#values += 1;
    // Each has a character at least.
    if (this.#values + this.extraBytes > maxDataBytes) refuse(tooLarge);
    if (typeof value === 'string') {
      if (!isStorableText(value)) this.#refuse('holds NUL or half a surrogate pair');
    } else if (typeof value === 'number') {
      if (!Number.isFinite(value)) this.#refuse('is too large for a number');
      this.extraBytes += extraDigits(value);
    } else if (typeof value === 'object' && value !== null) {
      if (depth > maxDepth) this.#refuse(`is deeper than ${maxDepth} levels`);
      if (Array.isArray(value)) this.#array(value, depth);
      else this.#object(value as Data, depth);
    }
  }

  #array(items: unknown[], depth: number): void {
    this.extraBytes += Math.max(0, items.length - 1);
    for (let i = 0; i < items.length; i++) {
      this.#path.push(i);
      this.value(items[i], depth + 1);
      this.#path.pop();
    }
  }

  #object(object: Data, depth: number): void {
    const keys = Object.keys(object);
    this.#keys += keys.length;
    if (this.#keys > maxKeys) refuse(`data has more than ${maxKeys} keys in all.`);
    this.extraBytes += Math.max(0, 2 * keys.length - 1);
    for (const key of keys) {
      this.#path.push(key);
      const problem = keyProblem(key);
      if (problem) this.#refuse(problem);
      this.value(object[key], depth + 1);
      this.#path.pop();
    }
  }

  #refuse(problem: string): never {
    return refuse(`${formatPath(this.#path)} ${problem}.`);
  }
}

/** A new record's own fields, where its maker says them. */
export interface GivenFields {
  id: string;
  ownerId: string | null;
}

export interface CheckedData {
  /** Without the record's own fields. */
  value: Data;
  json: string;
  sizeBytes: number;
  has(field: string): boolean;
  /** What it has at a path through objects. */
  at(path: readonly string[]): unknown;
  groupId?: string | undefined;
  /** Of a record that an import makes. */
  given?: GivenFields | undefined;
}

/**
 * Checks what a client sent as `data`, and drops the record's own fields from it.
 * @param sent as JSON.parse made it; anything may be in it
 * @throws ApiError invalid_data, naming the place
 */
export const checkData = (sent: unknown): CheckedData => {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    return refuse('data must be an object.');
  }
  const data = Object.keys(sent).some(isSystemField) ? withoutSystemFields(sent as Data) : sent;
  const validator = new DataValidator();
  validator.value(data, 1);
  const json = JSON.stringify(data);
  const sizeBytes = Buffer.byteLength(json) + validator.extraBytes;
  if (sizeBytes > maxDataBytes) return refuse(tooLarge);
  return {
    value: data as Data,
    json,
    sizeBytes,
    has: (field) => Object.hasOwn(data, field),
    at: (path) => path.reduce<unknown>(valueAt, data),
  };
};

const valueAt = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, key)
    ? (value as Data)[key]
    : undefined;

const withoutSystemFields = (data: Data): Data =>
  Object.fromEntries(Object.entries(data).filter(([key]) => !isSystemField(key)));
