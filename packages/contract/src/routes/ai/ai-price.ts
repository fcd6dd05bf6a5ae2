import { creditMillicredits, type Tariff } from '../../prices/prices.ts';
import { toJsonSchema } from './ai-json.ts';

/** docs/api.md, "AI". */
export const maxOutputTokens = 4096;
/** Of an owner's pinned prompt, in UTF-8; a call that names one is priced as if it had them all. */
export const maxPromptBytes = 8192;

/** A credit for 1,000 tokens, at least one. */
export const generationPrice = {
  operationId: 'generateText',
  quantity: 'tokens',
  unitSize: 1000,
  chargesStartedUnits: false,
  millicreditsPerUnit: creditMillicredits,
  minimumUnits: 1,
} as const satisfies Tariff;

/** Tokenizers work on bytes, so that a text never has more tokens than it has bytes in UTF-8. */
const utf8 = new TextEncoder();
export const tokensAtMost = (value: unknown): number =>
  typeof value === 'string' ? utf8.encode(value).length : 0;
/** What marks the start, role and end of one message in a chat template, and the answer's start. */
export const messageOverheadTokens = 8;
export const answerOverheadTokens = 64;
/**
 * Of an image of at most 1,024 by 1,024 pixels: 1,024 patches of 32 by 32, which the dearest of OpenAI's
 * models that count in patches takes 2.46 times.
 */
export const imageTokens = 2560;

const asArray = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const schemaTokensAtMost = (json: unknown): number => {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return 0;
  try {
    return tokensAtMost(JSON.stringify(toJsonSchema(asObject(json))));
  } catch {
    // Nested too deeply: the service refuses it.
    return 0;
  }
};

/** An upper bound of the prompt's tokens for any model; of a body that nobody has validated. */
export const promptTokensAtMost = (unchecked: unknown): number => {
  const { messages, system, json, prompt } = asObject(unchecked);
  let tokens = answerOverheadTokens + schemaTokensAtMost(json);
  if (system !== undefined) tokens += messageOverheadTokens + tokensAtMost(system);
  if (prompt !== undefined) tokens += messageOverheadTokens + maxPromptBytes;
  for (const message of asArray(messages)) {
    const { content } = asObject(message);
    tokens += messageOverheadTokens + tokensAtMost(content);
    for (const part of asArray(content)) {
      const { type, text } = asObject(part);
      tokens += type === 'image' ? imageTokens : tokensAtMost(text);
    }
  }
  return tokens;
};

export const outputTokensAtMost = (unchecked: unknown): number => {
  const { maxTokens } = asObject(unchecked);
  const isCap =
    Number.isInteger(maxTokens) && Number(maxTokens) >= 1 && Number(maxTokens) <= maxOutputTokens;
  return isCap ? Number(maxTokens) : maxOutputTokens;
};
