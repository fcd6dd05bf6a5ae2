import type { Socket } from 'node:net';
import { type ChannelModel, connect } from 'amqplib';
import { BusUnavailable, type Subscription } from './bus.ts';
import { type Link, type LinkOptions, type Listener, openLink } from './rabbitmq-link.ts';

export interface ConnectionOptions extends LinkOptions {
  onState: ((connected: boolean) => void) | undefined;
  onRefusal: ((isRefused: boolean) => void) | undefined;
}

export interface KeptConnection {
  /** Undefined while there is no connection with everything in place. */
  link(): Link | undefined;
  /** RabbitMQ refuses the user or the password. */
  isRefused(): boolean;
  /** Resolves when it stood for the first time. */
  first(): Promise<unknown>;
  subscribe(subscription: Subscription): Promise<void>;
  listen(listener: Listener): Promise<void>;
  close(): Promise<void>;
}

/** The broker sends a heartbeat in half of it, also while it takes no events. */
const heartbeatSeconds = 2;
const lookMs = 500;
const connectTimeoutMs = 3_000;
const maxPauseMs = 1_000;

/** What amqplib's types leave out. */
interface Wire {
  stream: Socket;
  /** As agreed with the broker, in seconds; 0 for none. */
  heartbeat: number;
}

/**
 * Ends a connection of which nothing came for three of the broker's heartbeats. amqplib waits for four
 * to six, and takes a process that was busy for a broker that is silent.
 */
const endWhenSilent = (model: ChannelModel) => {
  const { stream, heartbeat } = model.connection as unknown as Wire;
  if (heartbeat === 0) return;
  const maxLooks = (1.5 * heartbeat * 1000) / lookMs;
  let bytesRead = stream.bytesRead;
  let silentLooks = 0;
  const timer = setInterval(() => {
    silentLooks = stream.bytesRead === bytesRead ? silentLooks + 1 : 0;
    bytesRead = stream.bytesRead;
    if (silentLooks > maxLooks) stream.destroy(new BusUnavailable('RabbitMQ is silent.'));
  }, lookMs).unref();
  model.once('close', () => clearInterval(timer));
};

/** Connects until it succeeds, and again after each loss; then puts back what was subscribed. */
export const keepConnected = async (
  url: string,
  options: ConnectionOptions,
): Promise<KeptConnection> => {
  const subscriptions: Subscription[] = [];
  const listeners: Listener[] = [];
  let link: Link | undefined;
  let isRefused = false;

  const noteRefusal = (next: boolean) => {
    if (next === isRefused) return;
    isRefused = next;
    options.onRefusal?.(next);
  };

  const setUp = async (model: ChannelModel) => {
    endWhenSilent(model);
    const next = await openLink(model, options);
    model.once('close', () => {
      if (link !== next) return;
      link = undefined;
      options.onState?.(false);
    });
    // Both lists may grow meanwhile; what is added later finds the link.
    for (const subscription of subscriptions) await next.subscribe(subscription);
    for (const listener of listeners) await next.listen(listener);
    link = next;
    noteRefusal(false);
    options.onState?.(true);
  };

  const connection = await connect(withHeartbeat(url), {
    timeout: connectTimeoutMs,
    recovery: { setup: setUp, waitForConnect: false, maxDelay: maxPauseMs, jitter: 0.5 },
  });
  // The link reports them.
  connection.on('error', () => undefined);
  connection.on('connect-failed', (error: unknown) => {
    if (refusesUser(error)) noteRefusal(true);
    options.onError(error);
  });

  /** What fails on a connection that is lost meanwhile is made up for on the next one. */
  const add = async <T>(list: T[], entry: T, work: (current: Link) => Promise<void>) => {
    list.push(entry);
    const current = link;
    if (current === undefined) return;
    await work(current).catch((error) => {
      if (link !== current) return;
      list.splice(list.indexOf(entry), 1);
      throw error;
    });
  };

  return {
    link: () => link,
    isRefused: () => isRefused,
    first: () => connection.waitForConnect(),
    subscribe: (entry) => add(subscriptions, entry, (current) => current.subscribe(entry)),
    listen: (entry) => add(listeners, entry, (current) => current.listen(entry)),
    async close() {
      link = undefined;
      await connection.close();
    },
  };
};

/** amqplib says it in words alone. */
const refusesUser = (error: unknown): boolean => /ACCESS[-_]REFUSED/.test(String(error));

const withHeartbeat = (url: string): string => {
  const parsed = new URL(url);
  if (!parsed.searchParams.has('heartbeat')) {
    parsed.searchParams.set('heartbeat', String(heartbeatSeconds));
  }
  return parsed.href;
};
