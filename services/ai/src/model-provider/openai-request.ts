import type { ChatMessage } from '@backlot/contract';
import type { JsonSchema } from '../json-schema/json-schemas.ts';
import type { CompletionRequest, Prompt } from './model-provider.ts';

type Part = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } };

export type Message =
  | { role: 'system' | 'user' | 'assistant'; content: string }
  | { role: 'user'; content: Part[] };

type ResponseFormat =
  | { type: 'json_object' }
  | { type: 'json_schema'; json_schema: { name: string; schema: JsonSchema; strict: boolean } };

export interface ChatRequest {
  model: string;
  messages: Message[];
  response_format?: ResponseFormat;
  max_tokens?: number;
  max_completion_tokens?: number;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What strict mode certainly takes, with sizes well below OpenAI's own limits. */
const strictKeywords = new Set([
  'type',
  'title',
  'description',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'anyOf',
]);
const strictDepth = 5;

const plainTypes = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'null']);
const isPlain = (type: unknown) =>
  Array.isArray(type) ? type.every((name) => plainTypes.has(name)) : plainTypes.has(type);

const fitsStrict = (schema: unknown, depth: number): boolean => {
  if (!isRecord(schema) || depth > strictDepth) return false;
  if (Object.keys(schema).some((keyword) => !strictKeywords.has(keyword))) return false;
  const { type, properties, required, additionalProperties, items, anyOf } = schema;
  const inner = [
    ...(isRecord(properties) ? Object.values(properties) : []),
    ...(items === undefined ? [] : [items]),
    ...(Array.isArray(anyOf) ? anyOf : []),
  ];
  if (!inner.every((subschema) => fitsStrict(subschema, depth + 1))) return false;
  if (type === 'object') {
    const names = isRecord(properties) ? Object.keys(properties) : [];
    const needed = new Set(Array.isArray(required) ? required : []);
    return additionalProperties === false && names.every((name) => needed.has(name));
  }
  if (type === 'array') return isRecord(items);
  return isPlain(type) || (type === undefined && anyOf !== undefined);
};

/** Strict mode takes a part of JSON Schema, and refuses the request for anything beyond it. */
export const isStrict = (schema: JsonSchema): boolean =>
  schema.type === 'object' && schema.anyOf === undefined && fitsStrict(schema, 1);

interface Form {
  responseFormat?: ResponseFormat;
  instruction?: string;
}

/** JSON mode is refused unless the messages speak of JSON; only objects are taken as schemas. */
const toForm = (format: Prompt['format']): Form => {
  if (format === 'text') return {};
  if (format === 'json') {
    return {
      responseFormat: { type: 'json_object' },
      instruction: 'Answer with one JSON object.',
    };
  }
  const { schema } = format;
  if (schema.type !== 'object') {
    return { instruction: `Answer only with JSON of this schema: ${JSON.stringify(schema)}` };
  }
  const json_schema = { name: 'answer', schema, strict: isStrict(schema) };
  return { responseFormat: { type: 'json_schema', json_schema } };
};

/**
 * OpenAI refuses `max_tokens` for its later models; others know `max_tokens`, and some of them nothing
 * else.
 */
const tokenCap = (baseUrl: string, tokens: number) =>
  new URL(baseUrl).hostname.endsWith('openai.com') ||
  new URL(baseUrl).hostname.endsWith('openai.azure.com')
    ? { max_completion_tokens: tokens }
    : { max_tokens: tokens };

/** Users alone send images. */
const toMessage =
  ({ images }: Prompt) =>
  ({ role, text, parts }: ChatMessage): Message => {
    if (!parts) return { role, content: text };
    const content = parts.map((part): Part => {
      if (part.type === 'text') return part;
      const url = `data:image/jpeg;base64,${images?.get(part.fileId) ?? ''}`;
      return { type: 'image_url', image_url: { url } };
    });
    return { role: 'user', content };
  };

export const chatRequest = (
  request: CompletionRequest,
  { baseUrl, model }: { baseUrl: string; model: string },
): ChatRequest => {
  const { messages, format, maxOutputTokens } = request;
  const { responseFormat, instruction } = toForm(format);
  return {
    model,
    messages: [
      ...(instruction === undefined ? [] : [{ role: 'system' as const, content: instruction }]),
      ...messages.map(toMessage(request)),
    ],
    ...(responseFormat && { response_format: responseFormat }),
    ...tokenCap(baseUrl, maxOutputTokens),
  };
};
