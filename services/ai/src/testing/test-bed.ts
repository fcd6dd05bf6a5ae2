import { aiRoutes, type ImageAnswer, type ImageAsking, type Payload } from '@backlot/contract';
import { type Identity, identityHeader } from '@backlot/identity';
import type { ServiceOf } from '@backlot/service';
import {
  anonymous,
  createServiceBed,
  createTestClock,
  type ServiceBed,
  signed,
  type TestAnswer,
} from '@backlot/testing';
import type { AiConfig } from '../config.ts';
import { createJsonSchemas } from '../json-schema/json-schemas.ts';
import { createDemoProvider } from '../model-provider/demo.ts';
import type { ModelProvider } from '../model-provider/model-provider.ts';
import { aiService } from '../service.ts';

export const callId = '018f0000-0000-7000-8000-0000000000c1';

/** A caller without credentials for whom the gateway has reserved so much; null makes the call free. */
export const reserved = (millicredits: number | null): Identity =>
  anonymous({
    reservation: millicredits === null ? null : { callId, millicredits, millicreditsPerUnit: 1000 },
  });

interface AskOptions {
  identity?: Identity;
  headers?: Record<string, string>;
}

export interface TestBed extends Omit<ServiceBed<object>, 'service'> {
  service: ServiceOf<typeof aiService>;
  /** POST /ai with 10,000 milli-credits reserved unless stated. */
  ask(body: unknown, options?: AskOptions): Promise<TestAnswer>;
  /** The same, answered as soon as the head is there; `signal` is a caller who goes. */
  open(body: unknown, options?: AskOptions & { signal?: AbortSignal }): Promise<Response>;
  /** What was stored for the ledger; empties the list. */
  takeUsage(): Promise<Payload<'usage.recorded'>[]>;
  /** What was asked of storage, in order. */
  imagesAsked: ImageAsking[];
  /** What storage answers; it knows no file without it. */
  answerImages(answer: (asking: ImageAsking) => ImageAnswer): void;
  /** The next call's model; the demo without it. */
  useProvider(provider: ModelProvider): void;
}

interface BedSettings {
  now?: () => number;
}

export const createTestBed = async ({
  now,
  ...config
}: Partial<AiConfig> & BedSettings = {}): Promise<TestBed> => {
  const schemas = createJsonSchemas();
  let provider: ModelProvider = createDemoProvider(schemas);
  const imagesAsked: ImageAsking[] = [];
  let answerImage = (_asking: ImageAsking): ImageAnswer => ({
    refused: { code: 'not_found', message: 'There is no such file.' },
  });
  const bed = await createServiceBed(
    aiService,
    {
      config: {
        answerTimeoutMs: 60_000,
        maxCalls: 100,
        models: [],
        masterKeys: [Buffer.alloc(32, 1)],
        provider: { kind: 'demo' },
        ...config,
      },
      provider: {
        get takesChoices() {
          return provider.takesChoices;
        },
        promptTokensAtMost: (prompt) => provider.promptTokensAtMost(prompt),
        complete: (request) => provider.complete(request),
        stream: (request) => provider.stream(request),
        checkKey: (apiKey, signal) => provider.checkKey(apiKey, signal),
      },
      schemas,
      images: {
        async readImage(asking) {
          imagesAsked.push(asking);
          return answerImage(asking);
        },
      },
    },
    { clock: { ...createTestClock(), ...(now && { now }) } },
  );
  return {
    ...bed,
    ask: (body, { identity = reserved(10_000), headers = {} } = {}) =>
      bed.call('POST', '/ai', { identity, headers, body }),
    open: (body, { identity = reserved(10_000), headers = {}, signal } = {}) =>
      fetch(`${bed.http.url}/ai`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          [identityHeader]: signed(identity, aiRoutes.generateText, bed.clock.now()),
          ...headers,
        },
        body: JSON.stringify(body),
        signal: signal ?? null,
      }),
    takeUsage: () => bed.take('usage.recorded'),
    imagesAsked,
    answerImages(answer) {
      answerImage = answer;
    },
    useProvider(next) {
      provider = next;
    },
    async close() {
      await bed.close();
      await schemas.close();
    },
  };
};
