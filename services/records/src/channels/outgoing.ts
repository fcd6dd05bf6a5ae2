import { ApiError, type EventPayloads } from '@backlot/contract';

export type Said = EventPayloads['channel.said']['messages'][number];

/** Of messages that wait for the bus, in characters. */
const bounds = { all: 4 * 1024 * 1024, owner: 1024 * 1024, project: 512 * 1024 };
const inOneEvent = { messages: 200, length: 256 * 1024 };

interface Waiting {
  said: Said;
  keys: [keyof typeof bounds, string][];
  done: () => void;
}

export interface Outgoing {
  /** Resolves once the bus has it, or was tried in vain. @throws ApiError overloaded */
  add(said: Said, ownerId: string | null): Promise<void>;
}

/**
 * Messages on their way to all processes: at once where the bus is free, and together where it is at work.
 * @param tellHere where the bus can not take them
 */
export const createOutgoing = (
  publish: (messages: Said[]) => Promise<void>,
  tellHere: (said: Said) => void,
  onFailure: (error: unknown) => void,
): Outgoing => {
  const waiting: Waiting[] = [];
  const lengths = new Map<string, number>();
  let isSending = false;

  const count = ({ keys, said }: Waiting, sign: 1 | -1) => {
    for (const [bound, whose] of keys) {
      const key = `${bound} ${whose}`;
      const length = (lengths.get(key) ?? 0) + sign * said.text.length;
      if (length > 0) lengths.set(key, length);
      else lengths.delete(key);
    }
  };
  const takeSome = (): Waiting[] => {
    let length = 0;
    let n = 0;
    while (n < waiting.length && n < inOneEvent.messages && length < inOneEvent.length)
      length += waiting[n++]?.said.text.length ?? 0;
    return waiting.splice(0, n);
  };
  const send = async () => {
    if (isSending) return;
    isSending = true;
    while (waiting.length > 0) {
      const some = takeSome();
      const messages = some.map(({ said }) => said);
      await publish(messages).catch((error: unknown) => {
        onFailure(error);
        for (const said of messages) tellHere(said);
      });
      for (const one of some) {
        count(one, -1);
        one.done();
      }
    }
    isSending = false;
  };

  return {
    add(said, ownerId) {
      const keys: Waiting['keys'] = [
        ['project', String(said.projectNumber)],
        ['owner', ownerId ?? String(said.projectNumber)],
        ['all', ''],
      ];
      const isFull = keys.some(
        ([bound, whose]) =>
          (lengths.get(`${bound} ${whose}`) ?? 0) + said.text.length > bounds[bound],
      );
      if (isFull)
        throw new ApiError('overloaded', 'Too many messages are on their way. Try again shortly.', {
          retryAfterSeconds: 1,
        });
      return new Promise((done) => {
        const one = { said, keys, done };
        count(one, 1);
        waiting.push(one);
        void send();
      });
    },
  };
};
