import { z } from 'zod';
import { callers, defineRoute, forgiving } from '../../define-route.ts';
import { idInPath, listOf, ok, text, timestamp, uuid } from '../../schemas.ts';
import {
  generationPrice,
  maxOutputTokens,
  maxPromptBytes,
  outputTokensAtMost,
  promptTokensAtMost,
  tokensAtMost,
} from './ai-price.ts';

export { maxJsonDepth, toJsonSchema } from './ai-json.ts';
export * from './ai-price.ts';

export const maxPrompts = 100;
const maxMessages = 100;
const maxCharacters = 200_000;
export const maxImages = 4;

const anyText = text(0, maxCharacters);
const textPart = z.object({ type: z.literal('text'), text: anyText });
const imagePart = z.object({
  type: z.literal('image'),
  fileId: uuid.describe('A file that the caller may read'),
});
const part = z.discriminatedUnion('type', [textPart, imagePart]);
const message = z
  .object(
    {
      role: z.enum(['system', 'user', 'assistant']),
      content: z.union([anyText, z.array(part).min(1).max(maxMessages)], {
        error: ({ input }) =>
          input === undefined
            ? 'is missing'
            : `must be a text, or 1 to ${maxMessages} parts such as {"type": "text", "text": "Hello"} and {"type": "image", "fileId": "<id>"}`,
      }),
    },
    'must be an object such as {"role": "user", "content": "Hello"}',
  )
  .meta({ id: 'ChatMessage' });

export type ChatPart = z.infer<typeof part>;
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  /** Without the images. */
  text: string;
  /** All of it in order, where it has images. */
  parts?: readonly ChatPart[];
}

type Message = z.infer<typeof message>;
const plainText = (content: Message['content']): string =>
  typeof content === 'string'
    ? content
    : content.map((part) => (part.type === 'text' ? part.text : '')).join('');

const countImages = ({ content }: Message): number =>
  typeof content === 'string' ? 0 : content.filter(({ type }) => type === 'image').length;

const toChatMessage = (message: Message): ChatMessage => {
  const { role, content } = message;
  const plain = { role, text: plainText(content) };
  if (typeof content === 'string' || countImages(message) === 0) return plain;
  return { ...plain, parts: content };
};

const promptPattern = /^[a-z][a-z0-9_-]{0,62}$/;
const promptName = z.string().regex(promptPattern, 'must match ^[a-z][a-z0-9_-]{0,62}$');

const messages = z
  .array(message, {
    error: ({ input }) =>
      `${input === undefined ? 'is missing: send' : 'must be'} a list such as [{"role": "user", "content": "Hello"}]`,
  })
  .min(1)
  .max(maxMessages);

const body = z
  .object({
    messages,
    system: anyText.optional().describe('Put before all messages'),
    json: z
      .union([z.boolean(), z.record(z.string(), z.unknown())])
      .optional()
      .describe(
        'true: any JSON object; a JSON Schema: a value that satisfies it ({}: any JSON); else an example or a sketch of the answer, such as {"title": "string", "pages": "integer?", "tags": ["string"]}',
      ),
    maxTokens: z.int().min(1).max(maxOutputTokens).optional().describe('Longest answer, in tokens'),
    stream: z
      .boolean()
      .optional()
      .describe(
        'true: server-sent events delta {text}, then done {text, data?} or error; without an Idempotency-Key',
      ),
    prompt: z
      .string()
      .regex(promptPattern, 'must be the name of a prompt of the owner; texts go into "messages"')
      .optional()
      .describe('A prompt of the owner, put before all messages; then no other system text'),
  })
  .refine(({ prompt, system }) => prompt === undefined || system === undefined, {
    path: ['system'],
    message: 'can not be given beside "prompt"',
  })
  .refine(
    ({ prompt, messages }) =>
      prompt === undefined || messages.every(({ role }) => role !== 'system'),
    { path: ['messages'], message: 'can not hold any of role "system" beside "prompt"' },
  )
  .refine(({ messages }) => messages.at(-1)?.role === 'user', {
    path: ['messages'],
    message: 'the last one must come from "user"',
  })
  .refine(
    ({ messages }) =>
      messages.every((message) => message.role === 'user' || countImages(message) === 0),
    { path: ['messages'], message: 'can hold images of role "user" alone' },
  )
  .refine(
    ({ messages }) => messages.reduce((sum, message) => sum + countImages(message), 0) <= maxImages,
    { path: ['messages'], message: `may have at most ${maxImages} images in all` },
  )
  .refine(
    ({ messages, system = '' }) =>
      messages.reduce((sum, { content }) => sum + plainText(content).length, system.length) <=
      maxCharacters,
    { path: ['messages'], message: `may have at most ${maxCharacters} characters in all` },
  );

/** The conversation in order, `system` first, parts joined. */
export const toConversation = ({ messages, system }: z.infer<typeof body>): ChatMessage[] => [
  ...(system === undefined ? [] : [{ role: 'system' as const, text: system }]),
  ...messages.map(toChatMessage),
];

const noTools =
  'The model calls no tools. Ask for the choice in "json", act on it, and send the outcome in "messages".';
const jsonInstead = 'For an answer of a form send "json": true, a JSON Schema or an example.';
const imagesInParts =
  'An image stands in the content of a message: {"type": "image", "fileId": "<id>"}, with the id of an uploaded file.';
const nothingRemembered = 'Nothing is remembered: send the whole conversation in "messages".';
const oneAnswer = 'A call has one answer; make several calls for more.';

export const generateText = defineRoute({
  service: 'ai',
  plane: 'runtime',
  ...forgiving,
  operationId: 'generateText',
  method: 'POST',
  path: '/ai',
  summary: 'Continue a conversation, as text or as JSON in the form of a schema or an example',
  callers,
  limit: 'ai',
  body,
  refuses: {
    ...{ tools: noTools, toolChoice: noTools, functions: noTools, functionCall: noTools },
    ...{ toolCalls: noTools, toolCallId: noTools, webSearch: noTools, webSearchOptions: noTools },
    ...{ responseFormat: jsonInstead, responseSchema: jsonInstead, outputSchema: jsonInstead },
    ...{ image: imagesInParts, images: imagesInParts },
    ...{ files: imagesInParts, attachments: imagesInParts },
    ...{ conversationId: nothingRemembered, conversation: nothingRemembered },
    ...{ threadId: nothingRemembered, previousResponseId: nothingRemembered },
    ...{ n: oneAnswer, bestOf: oneAnswer },
    stop: 'The answer ends where the model or "maxTokens" ends it: cut it at your text yourself.',
    stopSequences: 'The answer ends where the model or "maxTokens" ends it: cut it at your text.',
    modalities: 'Answers are text or JSON.',
  },
  elsewhere: { model: "The model is the owner's to set: the setting aiModel of the project." },
  response: z.object({
    text: z.string(),
    data: z.unknown().optional().describe('With "json": the parsed value'),
  }),
  answers: 'json-or-events',
  status: 200,
  errors: [
    'invalid_body',
    'invalid_header',
    'not_found',
    'out_of_credits',
    'conflict',
    'visitor_budget',
    'storage_quota',
    'overloaded',
    'upstream_failed',
    'timeout',
  ],
  price: {
    ...generationPrice,
    endsWithCaller: true,
    needsBody: true,
    worstCase: ({ body }) => promptTokensAtMost(body) + outputTokensAtMost(body),
  },
});

const base = { service: 'ai', plane: 'platform', callers: ['owner', 'operator'] } as const;
const withKeys = { ...base, callers: ['owner', 'key', 'operator'] } as const;
const oneProject = z.object({ projectId: idInPath });

export const prompt = z
  .object({ name: z.string(), system: z.string(), updatedAt: timestamp })
  .meta({ id: 'Prompt' });

const utf8Text = (maxBytes: number) =>
  text(1, maxBytes).refine(
    (value) => tokensAtMost(value) <= maxBytes,
    `must have at most ${maxBytes} bytes in UTF-8`,
  );

export const setPrompt = defineRoute({
  ...withKeys,
  operationId: 'setPrompt',
  method: 'PUT',
  path: '/projects/:projectId/prompts/:name',
  summary: 'Pin a system text that calls name as "prompt" and no visitor can read or replace',
  limit: 'write',
  params: oneProject.extend({ name: promptName }),
  body: z.strictObject({ system: utf8Text(maxPromptBytes) }),
  response: prompt,
  status: 200,
  errors: ['invalid_path', 'invalid_body', 'prompt_limit'],
});

export const listPrompts = defineRoute({
  ...withKeys,
  operationId: 'listPrompts',
  method: 'GET',
  path: '/projects/:projectId/prompts',
  summary: 'All prompts of a project by name; there are at most 100',
  limit: 'read',
  params: oneProject,
  response: listOf(prompt),
  status: 200,
  errors: ['not_found'],
});

export const deletePrompt = defineRoute({
  ...withKeys,
  operationId: 'deletePrompt',
  method: 'DELETE',
  path: '/projects/:projectId/prompts/:name',
  summary: 'Delete a prompt; calls that name it are refused from then on',
  limit: 'write',
  params: oneProject.extend({ name: idInPath }),
  response: ok,
  status: 200,
  errors: ['not_found'],
});

const openaiSecret = z
  .object({
    name: z.literal('openai'),
    hint: z.string().describe('The last characters of the key'),
    model: z.string().nullable(),
    updatedAt: timestamp,
  })
  .meta({ id: 'OpenaiSecret' });

const secretPath = '/projects/:projectId/secrets/openai';

export const setOpenaiSecret = defineRoute({
  ...base,
  operationId: 'setOpenaiSecret',
  method: 'PUT',
  path: secretPath,
  summary: 'Let a project use a key of its own for the model, and a model of its choice',
  limit: 'write',
  params: oneProject,
  body: z.strictObject({
    apiKey: z
      .string()
      .regex(/^[\x21-\x7e]{8,512}$/, 'must be 8 to 512 printable ASCII characters')
      .describe('Checked with the provider, then sealed: no answer shows it again'),
    model: text(1, 200).optional().describe('Goes before the setting aiModel'),
  }),
  response: openaiSecret,
  status: 200,
  errors: ['invalid_body', 'invalid_secret', 'conflict', 'upstream_failed', 'timeout'],
});

export const getOpenaiSecret = defineRoute({
  ...base,
  operationId: 'getOpenaiSecret',
  method: 'GET',
  path: secretPath,
  summary: "What is known of a project's own key, without the key",
  limit: 'read',
  params: oneProject,
  response: openaiSecret,
  status: 200,
  errors: ['not_found'],
});

export const deleteOpenaiSecret = defineRoute({
  ...base,
  operationId: 'deleteOpenaiSecret',
  method: 'DELETE',
  path: secretPath,
  summary: "Forget a project's own key; the platform's is used again",
  limit: 'write',
  params: oneProject,
  response: ok,
  status: 200,
  errors: ['not_found'],
});
