import type { Transport } from '../../transport.ts';
import {
  maxCollections,
  openStream,
  type ServerChange,
  type StreamListener,
  type Told,
} from './stream.ts';
import type { Failure, Want } from './want.ts';

/** What tabs tell each other; `who` asks all for what they want, and shows that the first one lives. */
export type Message =
  | { kind: 'who' }
  | { kind: 'wants'; tab: string; wants: readonly Want[] }
  | { kind: 'ready'; keys: readonly string[] }
  | { kind: 'change'; change: ServerChange; position: string | undefined }
  | { kind: 'told'; told: Told }
  | { kind: 'reset'; position: string | undefined }
  | { kind: 'fail'; error: Failure; keys: readonly string[] | undefined };

const lookMs = 15_000;
/** Answers to `who` that a tab may miss before it counts as closed. */
const maxMissed = 3;
const gatherMs = 30;
const maxTabs = 100;

/** An error as it passes from tab to tab, which keeps nothing but the message by itself. */
const toPlain = ({ name, message, ...rest }: Failure): Failure => ({ ...rest, name, message });
/** As many as a stream carries, the first ones first. */
const fitting = (wants: readonly Want[]): Want[] => {
  const names = new Set<string>();
  return wants.filter(({ collection, channel }) => {
    const name = collection ?? `:${channel}`;
    if (names.size < maxCollections) names.add(name);
    return names.has(name);
  });
};

/** The tabs that the first one reads for, itself among them. */
export const createLeader = (
  transport: Transport,
  post: (message: Message) => void,
  listener: StreamListener,
  position: string | undefined,
) => {
  const tabs = new Map<string, { wants: readonly Want[]; missed: number }>();
  let gathering: ReturnType<typeof setTimeout> | undefined;
  const stream = openStream(
    transport,
    {
      ready(keys) {
        post({ kind: 'ready', keys });
        listener.ready(keys);
      },
      change(change, at) {
        post({ kind: 'change', change, position: at });
        listener.change(change, at);
      },
      told(told) {
        post({ kind: 'told', told });
        listener.told(told);
      },
      reset(at) {
        post({ kind: 'reset', position: at });
        listener.reset(at);
      },
      fail(error, keys) {
        post({ kind: 'fail', error: toPlain(error), keys });
        listener.fail(error, keys);
      },
      alive: () => look(),
    },
    position,
  );
  const gather = () => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      stream.want(fitting([...tabs.values()].flatMap(({ wants }) => wants)));
    }, gatherMs);
  };
  let looked = 0;
  /** Whenever the server has sent something too: timers of hidden tabs hardly run. */
  const look = () => {
    if (Date.now() < looked + lookMs) return;
    looked = Date.now();
    for (const [tab, state] of tabs) if (state.missed++ >= maxMissed) tabs.delete(tab);
    post({ kind: 'who' });
    gather();
  };
  const timer = setInterval(look, lookMs);
  look();
  return {
    want(tab: string, wants: readonly Want[]) {
      if (wants.length === 0) tabs.delete(tab);
      else if (tabs.has(tab) || tabs.size < maxTabs) tabs.set(tab, { wants, missed: 0 });
      gather();
    },
    close() {
      clearInterval(timer);
      clearTimeout(gathering);
      stream.close();
    },
  };
};
