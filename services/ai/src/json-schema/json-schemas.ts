import { ApiError, aiRoutes } from '@backlot/contract';
import {
  cpuWork,
  FairShareFull,
  type FairShares,
  halfOfCores,
  type Requester,
} from '@backlot/fair-shares';
import { createSchemaThreads, SchemaRefused, type ThreadCall } from './schema-threads.ts';

export { SchemaRefused } from './schema-threads.ts';

export type JsonSchema = Record<string, unknown>;

/**
 * For untrusted schemas of dialects 2020-12 and draft-07; nothing is fetched. All methods throw
 * SchemaRefused for an invalid schema, references outside of it, and more than the allowed time and
 * memory, and ApiError overloaded while too many wait, unavailable where other work left it no processor. What work takes, refused or not, counts against
 * its caller's share: whoever has used least goes next.
 */
export interface JsonSchemas {
  check(requester: Requester, schema: JsonSchema): Promise<void>;
  /** @param value JSON. What is wrong with it; undefined where it satisfies the schema. */
  mismatch(requester: Requester, schema: JsonSchema, value: string): Promise<string | undefined>;
  /**
   * A value that satisfies the schema, as JSON: the same for the same seed, of at most `maxBytes`
   * where one was found, else the shortest one. @throws SchemaRefused also when none was found
   */
  example(
    requester: Requester,
    schema: JsonSchema,
    options: { seed: number; maxBytes: number },
  ): Promise<string>;
  usage: FairShares['usage'];
  close(): Promise<void>;
}

const maxSchemaLength = 64 * 1024;
/** Also for values: an object within an object is one level, in a schema it is two. */
const maxDepth = aiRoutes.maxJsonDepth;
/** Of a processor's time. */
const standardLimitMs = 1000;
const threads = Math.min(2, halfOfCores);
/** The last one waits at most a minute on a machine with free processors, if each before it uses all of its time. */
const maxWaiting = 100;

/** Looks no deeper than it has to. */
export const isTooDeep = (value: unknown, levels = maxDepth): boolean => {
  if (levels < 0) return true;
  if (typeof value !== 'object' || value === null) return false;
  for (const child of Object.values(value)) if (isTooDeep(child, levels - 1)) return true;
  return false;
};

/** What it lets through can be written as JSON. @throws SchemaRefused */
export const checkDepth = (schema: JsonSchema): void => {
  if (isTooDeep(schema)) throw new SchemaRefused(`is nested deeper than ${maxDepth} levels`);
};

const texts = new WeakMap<JsonSchema, string>();

/** A call's schema as JSON, which is priced, hashed and sent to the thread. @throws SchemaRefused */
export const schemaText = (schema: JsonSchema): string => {
  const known = texts.get(schema);
  if (known !== undefined) return known;
  checkDepth(schema);
  const text = JSON.stringify(schema);
  texts.set(schema, text);
  return text;
};

const serialize = (schema: JsonSchema): string => {
  const text = schemaText(schema);
  if (text.length > maxSchemaLength) {
    throw new SchemaRefused(`has more than ${maxSchemaLength} characters`);
  }
  return text;
};

/**
 * Schemas are compiled to code and hold patterns, so each is handled in a thread that can be ended.
 * @param limitMs of a processor's time, for one call
 */
export const createJsonSchemas = ({
  limitMs = standardLimitMs,
  threadFile = new URL('./thread-main.ts', import.meta.url),
} = {}): JsonSchemas => {
  const pool = createSchemaThreads(threadFile, limitMs);
  const shares = cpuWork({ places: threads, maxWaiting });

  const run = async (requester: Requester, call: ThreadCall) => {
    try {
      return await shares.run(requester, () => pool.run(call));
    } catch (cause) {
      if (!(cause instanceof FairShareFull)) throw cause;
      const message = 'Too many schemas are being worked on. Try again shortly.';
      const { retryAfterSeconds } = cause;
      throw new ApiError('overloaded', message, { cause, retryAfterSeconds });
    }
  };

  return {
    async check(requester, schema) {
      await run(requester, { work: 'check', schema: serialize(schema) });
    },
    mismatch: (requester, schema, value) =>
      run(requester, { work: 'mismatch', schema: serialize(schema), value }),
    async example(requester, schema, { seed, maxBytes }) {
      const found = await run(requester, {
        work: 'example',
        schema: serialize(schema),
        seed,
        maxBytes,
      });
      if (found === undefined) {
        throw new SchemaRefused(
          'seems to fit no value: the demo model found none that satisfies it',
        );
      }
      return found;
    },
    usage: shares.usage,
    close: pool.close,
  };
};
