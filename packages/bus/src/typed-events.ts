import { type Bus, type BusEvent, EventInvalid, type Subscription } from './bus.ts';

/** Reads the payload of each topic: the contract's `events`. */
export type EventSchemas = Record<string, { parse(payload: unknown): unknown }>;

export type EventHandlers<Schemas extends EventSchemas, Result> = {
  [Topic in keyof Schemas]?: (
    payload: ReturnType<Schemas[Topic]['parse']>,
    eventId: string,
  ) => Result;
};

type Handle<Result> = (payload: unknown, eventId: string) => Result;

const parse = (schema: EventSchemas[string], topic: string, payload: unknown) => {
  try {
    return schema.parse(payload);
  } catch (cause) {
    throw new EventInvalid(`An event is not what ${topic} promises.`, { cause });
  }
};

const bind = <Result>(schemas: EventSchemas, handlers: object) => ({
  topics: Object.keys(handlers),
  handler({ id, topic, payload }: BusEvent): Result {
    const handle = (handlers as Record<string, Handle<Result>>)[topic];
    const schema = schemas[topic];
    if (!handle || !schema) throw new Error(`Nobody here handles ${topic}.`);
    return handle(parse(schema, topic, payload), id);
  },
});

/** `bus.subscribe` to the topics of the handlers; an event whose payload does not parse is dead. */
export const subscribeTo = <Schemas extends EventSchemas>(
  bus: Bus,
  schemas: Schemas,
  queue: string,
  handlers: EventHandlers<Schemas, Promise<unknown>>,
  keepDead?: Subscription['keepDead'],
): Promise<void> => {
  const { topics, handler } = bind<Promise<unknown>>(schemas, handlers);
  return bus.subscribe({
    queue,
    topics,
    handler: async (event) => void (await handler(event)),
    ...(keepDead && { keepDead }),
  });
};

/** `bus.listen` to the topics of the handlers. */
export const listenTo = async <Schemas extends EventSchemas>(
  bus: Bus,
  schemas: Schemas,
  handlers: EventHandlers<Schemas, unknown>,
): Promise<void> => {
  const { topics, handler } = bind<unknown>(schemas, handlers);
  if (topics.length > 0) await bus.listen(topics, (event) => void handler(event));
};
