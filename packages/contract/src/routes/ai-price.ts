import { creditMillicredits } from '../define-route.ts';

/** Contract section 5. */
export const maxOutputTokens = 4096;
/** Of an owner's pinned prompt, in UTF-8; a call that names one is priced as if it had them all. */
export const maxPromptBytes = 8192;

/** Contract section 9: a credit for 1,000 tokens, at least one. */
export const generationMillicredits = (tokens: number): number =>
  Math.max(creditMillicredits, Math.ceil(tokens));

/** Tokenizers work on bytes, so that a text never has more tokens than it has bytes in UTF-8. */
const utf8 = new TextEncoder();
export const tokensAtMost = (value: unknown): number =>
  typeof value === 'string' ? utf8.encode(value).length : 0;
/** What marks the start, role and end of one message in a chat template, and the answer's start. */
export const messageOverheadTokens = 8;
export const answerOverheadTokens = 64;

const elementsOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const schemaTokensAtMost = (json: unknown): number => {
  if (typeof json !== 'object' || json === null) return 0;
  try {
    return tokensAtMost(JSON.stringify(json));
  } catch {
    // Nested so deeply that it can't be written: the service refuses it.
    return 0;
  }
};

/** An upper bound of the prompt's tokens for any model; of a body that nobody has validated. */
export const promptTokensAtMost = (unchecked: unknown): number => {
  const { messages, system, json, prompt } = fieldsOf(unchecked);
  let tokens = answerOverheadTokens + schemaTokensAtMost(json);
  if (system !== undefined) tokens += messageOverheadTokens + tokensAtMost(system);
  if (prompt !== undefined) tokens += messageOverheadTokens + maxPromptBytes;
  for (const each of elementsOf(messages)) {
    const { content } = fieldsOf(each);
    tokens += messageOverheadTokens + tokensAtMost(content);
    for (const part of elementsOf(content)) tokens += tokensAtMost(fieldsOf(part).text);
  }
  return tokens;
};

export const outputTokensAtMost = (unchecked: unknown): number => {
  const { maxTokens } = fieldsOf(unchecked);
  const isCap =
    Number.isInteger(maxTokens) && Number(maxTokens) >= 1 && Number(maxTokens) <= maxOutputTokens;
  return isCap ? Number(maxTokens) : maxOutputTokens;
};
