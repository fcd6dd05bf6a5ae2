import { parentPort } from 'node:worker_threads';
import { lowerThreadPriority } from '@backlot/fair-shares';
import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type GenerateSyncOptions, generateSync } from 'json-schema-faker';
import type { JsonSchema } from './json-schemas.ts';
import type { ThreadAnswer, ThreadCall } from './schema-threads.ts';

lowerThreadPriority();

const quiet = { strict: false, logger: false, ownProperties: true } as const;
/** Compiled once, to judge schemas; each schema is then compiled by an instance that ends with it. */
const dialects = {
  draft07: { Dialect: Ajv, meta: new Ajv(quiet) },
  draft2020: { Dialect: Ajv2020, meta: new Ajv2020(quiet) },
};

const compile = (schema: JsonSchema): ValidateFunction => {
  const isDraft07 = String(schema.$schema).startsWith('http://json-schema.org/draft-07/schema');
  const { Dialect, meta } = isDraft07 ? dialects.draft07 : dialects.draft2020;
  if (!meta.validateSchema(schema)) {
    throw new Error(meta.errorsText(meta.errors, { dataVar: 'the schema' }));
  }
  const compiler = new Dialect({ ...quiet, meta: false, validateSchema: false });
  addFormats.default(compiler);
  const validate = compiler.compile(schema);
  if ('$async' in validate) throw new Error('the keyword "$async" is not offered');
  return validate;
};

/** The fullest values first; the last ones leave out all that is optional. */
const attempts: GenerateSyncOptions[] = [
  { useExamplesValue: true, useDefaultValue: true, alwaysFakeOptionals: true },
  { alwaysFakeOptionals: true },
  ...Array.from({ length: 6 }, () => ({})),
  { optionalsProbability: 0 },
  { optionalsProbability: 0 },
];
const generator: GenerateSyncOptions = { maxDepth: 32, refDepthMin: 0, refDepthMax: 2 };

const findExample = (
  schema: JsonSchema,
  validate: ValidateFunction,
  seed: number,
  maxBytes: number,
) => {
  let shortest: string | undefined;
  for (const [number, options] of attempts.entries()) {
    let value: string;
    try {
      const generated = generateSync(schema, { ...generator, ...options, seed: seed + number });
      value = JSON.stringify(generated) ?? 'null';
    } catch {
      // This generator can't, at least not with this seed; what counts is whether any attempt does.
      continue;
    }
    if (!validate(JSON.parse(value))) continue;
    if (shortest === undefined || value.length < shortest.length) shortest = value;
    if (Buffer.byteLength(shortest) <= maxBytes) break;
  }
  return shortest;
};

const work = (call: ThreadCall, schema: JsonSchema, validate: ValidateFunction) => {
  switch (call.work) {
    case 'check':
      return undefined;
    case 'mismatch':
      return validate(JSON.parse(call.value))
        ? undefined
        : new Ajv(quiet).errorsText(validate.errors, { dataVar: 'value' }).slice(0, 300);
    case 'example':
      return findExample(schema, validate, call.seed, call.maxBytes);
  }
};

const messageIn = (error: unknown) => (error instanceof Error ? error.message : String(error));

const answer = (call: ThreadCall): ThreadAnswer => {
  const schema = JSON.parse(call.schema) as JsonSchema;
  let validate: ValidateFunction;
  try {
    validate = compile(schema);
  } catch (error) {
    return { refused: `is no JSON Schema that can be used: ${messageIn(error).slice(0, 300)}` };
  }
  try {
    return { result: work(call, schema, validate) };
  } catch (error) {
    return { failed: messageIn(error) };
  }
};

const post = (message: ThreadAnswer) => parentPort?.postMessage(message);
parentPort?.on('message', (call: ThreadCall) => {
  post({ begun: process.threadCpuUsage() });
  post(answer(call));
});
