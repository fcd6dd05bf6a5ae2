import type { Channel } from '../channel-types.ts';
import type { Transport } from '../transport.ts';

type Live = typeof import('../live/live-lists.ts');

/** The module that listens is loaded when somebody does first. */
export const createChannel = (transport: Transport, name: string): Channel<never> => {
  const start = (begin: (live: Live) => () => void, onError?: (error: Error) => void) => {
    const started = import('../live/live-lists.ts').then(begin);
    started.catch(onError);
    return () => void started.then((stop) => stop());
  };
  return {
    async send(data) {
      const body = { channel: name, data };
      await transport.send('POST', '/events/broadcast', { body, canRepeat: false });
    },
    on: (listener, onError) =>
      start(({ listen }) => listen(transport, name, listener, onError), onError),
    presence: (data, onMembers = () => {}, onError) =>
      start(
        ({ watchPresence }) =>
          watchPresence(transport, name, data as never, onMembers as never, onError),
        onError,
      ),
  };
};
