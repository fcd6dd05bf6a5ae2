import { ApiError, aiRoutes, type BodyOf } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { AiConfig } from './config.ts';
import { checkDepth, type JsonSchemas, SchemaRefused } from './json-schema/json-schemas.ts';
import { createSchemaChecks } from './json-schema/schema-checks.ts';
import type { CompletionRequest, ModelProvider, Prompt } from './model-provider/model-provider.ts';
import type { ProjectKeys } from './project-keys.ts';
import type { Prompts } from './prompts.ts';
import type { Spending, Spendings } from './spending.ts';
import type { Usage } from './usage.ts';

export interface Asking {
  identity: Identity;
  body: BodyOf<typeof aiRoutes.generateText>;
  /** Aborted when the caller has gone. */
  signal: AbortSignal;
}

/** A call that may be put to the model. Whoever opened it books or refunds its spending. */
export interface Opened {
  request: CompletionRequest;
  spending: Spending;
}

export interface OpeningDeps {
  provider: ModelProvider;
  schemas: JsonSchemas;
  prompts: Prompts;
  projectKeys: ProjectKeys;
  spendings: Spendings;
  usage: Usage;
  config: AiConfig;
}

/** @throws SchemaRefused where it can't even be measured */
const formatOf = (json: Asking['body']['json']): Prompt['format'] => {
  if (json === undefined || json === false) return 'text';
  if (json === true) return 'json';
  checkDepth(json);
  return { schema: json };
};

/** As the caller sees it where the error is about the schema that was sent. */
export const schemaRefused = (error: unknown) =>
  error instanceof SchemaRefused
    ? new ApiError('invalid_body', `"json": ${error.message}.`, { cause: error })
    : error;

/**
 * Nobody reads it. Of the codes that leave nothing under an Idempotency-Key it is the one that is no
 * fault for the log.
 */
export const callerGone = (cause: unknown) =>
  new ApiError('overloaded', 'The caller has gone.', { cause });

export const createOpening = (deps: OpeningDeps) => {
  const { provider, prompts, projectKeys, spendings, usage, config } = deps;
  const checkSchema = createSchemaChecks(deps.schemas);

  const promptOf = async ({ identity, body }: Asking): Promise<Prompt> => {
    const messages = aiRoutes.conversationOf(body);
    const format = formatOf(body.json);
    if (body.prompt === undefined) return { messages, format };
    const text = await prompts.textOf(identity.project.number, body.prompt);
    return { messages: [{ role: 'system', text }, ...messages], format };
  };

  /**
   * Leaves nothing behind where it throws, but a caller who has gone is booked.
   * @throws ApiError invalid_body, out_of_credits, visitor_budget, overloaded
   */
  return async (asking: Asking): Promise<Opened> => {
    const { identity, body, signal } = asking;
    let spending: Spending | undefined;
    try {
      const prompt = await promptOf(asking);
      const choice = await projectKeys.choiceOf(identity);
      spending = await spendings.open(identity, {
        promptTokens: provider.promptTokensAtMost(prompt),
        outputTokens: body.maxTokens ?? aiRoutes.maxOutputTokens,
      });
      const { maxOutputTokens } = spending;
      if (typeof prompt.format === 'object')
        await checkSchema(identity.project.number, prompt.format.schema);
      signal.throwIfAborted();
      const ends = AbortSignal.any([signal, AbortSignal.timeout(config.answerTimeoutMs)]);
      return { request: { ...prompt, maxOutputTokens, choice, signal: ends }, spending };
    } catch (error) {
      await spending?.refund();
      if (!signal.aborted) throw schemaRefused(error);
      await usage.record(identity, 0);
      throw callerGone(error);
    }
  };
};

export type Open = ReturnType<typeof createOpening>;
