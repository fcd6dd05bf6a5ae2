import { type Agent, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3 } from '@aws-sdk/client-s3';
import { BlobStoreUnavailable } from './blob-store.ts';

const lookMs = 250;
/** Looks without an answer before S3 is asked: 0.75 to 1 s. */
const suspectLooks = 4;
const probeTimeoutMs = 2000;
/** Between the starts of two probes while S3 is silent. */
const probeEveryMs = 1000;

interface Place {
  protocol: string;
  hostname: string;
  port?: number | undefined;
}

interface Pending {
  place: Place;
  silentLooks: number;
  /** S3 is asked again after so many. */
  askAfterLooks: number;
}

/** Whether anything is answered on a new connection, be it a refusal. */
const isAnswering = ({ protocol, hostname, port }: Place) =>
  new Promise<boolean>((resolve) => {
    const send = protocol === 'http:' ? requestHttp : requestHttps;
    const req = send({ protocol, hostname, port, method: 'HEAD', path: '/', agent: false });
    const finish = (answer: boolean) => {
      clearTimeout(timer);
      req.destroy();
      resolve(answer);
    };
    // A process that was busy finds the timer due before it has read the answer, which it does next.
    const timer = setTimeout(() => setImmediate(() => finish(false)), probeTimeoutMs).unref();
    req.once('response', () => finish(true));
    req.on('error', () => finish(false));
    req.end();
  });

const openSockets = (agents: readonly Agent[]): Socket[] =>
  agents
    .flatMap(({ sockets, freeSockets }) => [sockets, freeSockets])
    .flatMap((byHost) => Object.values(byHost).flatMap((sockets) => sockets ?? []));

/**
 * Where a request is without an answer for about a second, S3 is asked on a new connection, two seconds
 * long. Is that not answered either, every connection ends of which nothing came meanwhile, and requests
 * fail at once until a probe each second is answered. Slow copies and large parts are left alone while S3
 * answers.
 */
export const failWhileSilent = (client: S3, agents: readonly Agent[]): void => {
  const pending = new Set<Pending>();
  let timer: NodeJS.Timeout | undefined;
  let isSilent = false;
  let isProbing = false;

  const recover = async (place: Place) => {
    for (;;) {
      const pause = sleep(probeEveryMs, undefined, { ref: false });
      if (await isAnswering(place)) break;
      await pause;
    }
    isSilent = false;
  };

  const ask = async (suspect: Pending) => {
    const before = new Map(openSockets(agents).map((socket) => [socket, socket.bytesRead]));
    const answers = await isAnswering(suspect.place);
    suspect.askAfterLooks = 2 * suspect.silentLooks;
    if (answers) return;
    isSilent = true;
    for (const socket of openSockets(agents))
      if (socket.bytesRead === (before.get(socket) ?? 0)) socket.destroy();
    void recover(suspect.place);
  };

  const look = () => {
    let suspect: Pending | undefined;
    for (const request of pending) {
      request.silentLooks += 1;
      if (request.silentLooks >= request.askAfterLooks) suspect ??= request;
    }
    if (!suspect || isProbing || isSilent) return;
    isProbing = true;
    void ask(suspect).finally(() => {
      isProbing = false;
    });
  };

  client.middlewareStack.add(
    (next) => async (args) => {
      if (isSilent) throw new BlobStoreUnavailable('S3 is silent');
      const request: Pending = {
        place: args.request as Place,
        silentLooks: 0,
        askAfterLooks: suspectLooks,
      };
      pending.add(request);
      timer ??= setInterval(look, lookMs).unref();
      try {
        return await next(args);
      } finally {
        pending.delete(request);
        if (pending.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      }
    },
    // Once for each try, within the retries.
    { step: 'deserialize', name: 'silence' },
  );
};
