import { ApiError, aiRoutes, type RouteBody } from '@backlot/contract';
import { toRequester } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import type { RecordUsage } from '@backlot/service';
import type { CallBudget, CallBudgets } from '../budgets/call-budgets.ts';
import type { AiConfig } from '../config.ts';
import { checkDepth, type JsonSchemas, SchemaRefused } from '../json-schema/json-schemas.ts';
import { createSchemaChecks } from '../json-schema/schema-checks.ts';
import type { CompletionRequest, ModelProvider, Prompt } from '../model-provider/model-provider.ts';
import type { ProjectKeys } from '../project-keys.ts';
import type { Prompts } from '../prompts.ts';
import type { LoadImages, PromptImages } from './prompt-images.ts';

export interface GenerationCall {
  identity: Identity;
  body: RouteBody<typeof aiRoutes.generateText>;
  /** Aborted when the caller has gone. */
  signal: AbortSignal;
}

/**
 * Ready for the model. Its receiver ends the budget with `record` or `release`, and frees the images once
 * the model is not asked any more.
 */
export interface PreparedGeneration extends Pick<PromptImages, 'free'> {
  request: CompletionRequest;
  budget: CallBudget;
}

export interface GenerationPreparerDeps {
  provider: ModelProvider;
  schemas: JsonSchemas;
  prompts: Prompts;
  projectKeys: ProjectKeys;
  callBudgets: CallBudgets;
  loadImages: LoadImages;
  recordUsage: RecordUsage;
  config: AiConfig;
}

/** @throws SchemaRefused */
const readFormat = (json: GenerationCall['body']['json']): Prompt['format'] => {
  if (json === undefined || json === false) return 'text';
  if (json === true) return 'json';
  checkDepth(json);
  return { schema: aiRoutes.toJsonSchema(json) };
};

/** A refused schema as an ApiError; any other error as it is. */
export const toSchemaError = (error: unknown) =>
  error instanceof SchemaRefused
    ? new ApiError('invalid_body', `"json": ${error.message}.`, { cause: error })
    : error;

/** Nobody reads it; `overloaded` stores nothing under an Idempotency-Key and logs no error. */
export const callerGone = (cause: unknown) =>
  new ApiError('overloaded', 'The caller has gone.', { cause });

export const createGenerationPreparer = (deps: GenerationPreparerDeps) => {
  const { provider, prompts, projectKeys, callBudgets, loadImages, recordUsage, config } = deps;
  const checkSchema = createSchemaChecks(deps.schemas);

  const buildPrompt = async ({ identity, body }: GenerationCall): Promise<Prompt> => {
    const messages = aiRoutes.toConversation(body);
    const format = readFormat(body.json);
    if (body.prompt === undefined) return { messages, format };
    const text = await prompts.getText(identity.project.number, body.prompt);
    return { messages: [{ role: 'system', text }, ...messages], format };
  };

  /**
   * Releases what it reserved where it throws; a caller who has gone is recorded with no usage.
   * @throws ApiError invalid_body, not_found, out_of_credits, visitor_budget, overloaded
   */
  return async (call: GenerationCall): Promise<PreparedGeneration> => {
    const { identity, body, signal } = call;
    let budget: CallBudget | undefined;
    try {
      const prompt = await buildPrompt(call);
      const choice = await projectKeys.findChoice(identity);
      budget = await callBudgets.reserve(identity, {
        promptTokens: provider.promptTokensAtMost(prompt),
        outputTokens: body.maxTokens ?? aiRoutes.maxOutputTokens,
      });
      const { maxOutputTokens } = budget;
      const requester = toRequester(identity);
      if (typeof prompt.format === 'object') await checkSchema(requester, prompt.format.schema);
      const { images, free } = await loadImages(identity, prompt.messages, signal);
      if (signal.aborted) free();
      signal.throwIfAborted();
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(config.answerTimeoutMs)]);
      const request = { ...prompt, images, maxOutputTokens, choice, requester, signal: deadline };
      return { request, budget, free };
    } catch (error) {
      await budget?.release();
      if (!signal.aborted) throw toSchemaError(error);
      await recordUsage(identity, 0);
      throw callerGone(error);
    }
  };
};

export type PrepareGeneration = ReturnType<typeof createGenerationPreparer>;
