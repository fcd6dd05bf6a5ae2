/**
 * Text from language models: what a caller may ask for, in which form it is answered, and what it
 * used. Owns owners' prompts and keys and visitors' days, no conversation. Refuses to know which model
 * answers (a provider's business), what an owner has left (the gateway reserves) and how usage is
 * booked (the projects service's ledger).
 */
import { aiRoutes, creditMillicredits, type ImageDirectory } from '@backlot/contract';
import { outsideCalls } from '@backlot/fair-shares';
import { withTimeout } from '@backlot/http';
import { createSealer } from '@backlot/sealing';
import {
  configRouter,
  createConfigPart,
  createRecordUsage,
  createSecretsReadiness,
  createVisitorBudgets,
  defineService,
  type ServiceContext,
  sealedColumn,
  watchServer,
} from '@backlot/service';
import { createCallBudgets } from './budgets/call-budgets.ts';
import { type AiConfig, aiConfig } from './config.ts';
import { eraseProject } from './erasure.ts';
import { createAnswers } from './generations/answers.ts';
import { boundGenerations } from './generations/bounded-generations.ts';
import { createGenerationPreparer } from './generations/generation-preparer.ts';
import { createGenerations } from './generations/generations.ts';
import { createImageLoader } from './generations/prompt-images.ts';
import type { JsonSchemas } from './json-schema/json-schemas.ts';
import type { ModelProvider } from './model-provider/model-provider.ts';
import { watchProvider } from './model-provider/watched-provider.ts';
import { createProjectKeys, sealContext } from './project-keys.ts';
import { createPrompts, createPromptsConfig } from './prompts.ts';
import { createRoutes } from './routes/index.ts';

export interface AiContext extends ServiceContext<AiConfig> {
  provider: ModelProvider;
  schemas: JsonSchemas;
  images: ImageDirectory;
}

/** Interrupted calls still have to record their usage. */
const stopTimeoutMs = 5000;
/** Calls with images at a time, in this process: theirs stay in memory until the model has answered. */
const maxCallsWithImages = 64;

export const aiService = defineService({
  name: 'ai',
  migrations: new URL('../migrations/', import.meta.url),
  config: aiConfig,
  asks: ['images'],
  build(context: AiContext) {
    const { database, outbox, now, config, schemas } = context;
    const model = watchServer('model', 'missing');
    const provider = watchProvider(context.provider, model);
    const visitorBudgets = createVisitorBudgets(database, now, {
      setting: 'aiPerVisitorPerDay',
      column: 'millicredits',
      unitsPerBudget: creditMillicredits,
    });
    const recordUsage = createRecordUsage(outbox, aiRoutes.generationPrice, now);
    const prompts = createPrompts(database, now);
    const sealer = createSealer(config.masterKeys);
    const projectKeys = createProjectKeys({ ...config, database, sealer, provider, now });
    const callBudgets = createCallBudgets({ database, recordUsage, visitorBudgets, now });
    const imageShares = outsideCalls({ places: maxCallsWithImages });
    const prepare = createGenerationPreparer({
      ...context,
      prompts,
      projectKeys,
      callBudgets,
      loadImages: createImageLoader(context.images, imageShares),
      recordUsage,
    });
    const callShares = outsideCalls({ places: config.maxCalls });
    const generations = boundGenerations(
      createGenerations(prepare, createAnswers(provider, schemas)),
      { places: callShares, recordUsage },
    );
    const aiConfig = createConfigPart(database, { prompts: createPromptsConfig(prompts) });
    return {
      seals: [
        sealedColumn<{ project_number: number }>({
          database,
          sealer,
          table: 'secrets',
          column: 'sealed',
          keys: ['project_number'],
          context: ({ project_number }) => sealContext(project_number),
        }),
      ],
      needs: [createSecretsReadiness({ ...context, sealer }), model.find],
      routes: createRoutes({ generations, prompts, projectKeys }),
      internal: configRouter(aiConfig),
      api: { directories: { aiConfig } },
      queues: { calls: callShares, schemas, images: imageShares },
      subscriptions: {
        'project.erased': ({ projectNumber }) => eraseProject(database, projectNumber),
      },
      sweeps: [{ run: () => visitorBudgets.sweep() }],
      stop: () => withTimeout(generations.idle, stopTimeoutMs),
    };
  },
});
