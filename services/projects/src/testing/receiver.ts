import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface Received {
  id: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Receiver {
  url: string;
  /** All calls, in the order in which they came. */
  received: Received[];
  /** How it answers from now on; 204 unless stated. */
  answer: RequestListener;
  close(): Promise<void>;
}

/** A server of an owner, to which webhooks lead. */
export const createReceiver = async (): Promise<Receiver> => {
  const server: Server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      receiver.received.push({ id: String(req.headers['webhook-id']), headers: req.headers, body });
      receiver.answer(req, res);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    answer: (_req, res) => void res.writeHead(204).end(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
};

/** What was sent, as the library of Standard Webhooks reads it, at whatever time. @throws where the signature is wrong */
export const verify = (secret: string, { id, body, headers }: Received): unknown => {
  const sentAt = new Date(Number(headers['webhook-timestamp']) * 1000);
  const expected = new Webhook(secret).sign(id, sentAt, body);
  if (!String(headers['webhook-signature']).split(' ').includes(expected))
    throw new Error('The signature is wrong.');
  return JSON.parse(body);
};

/** Likewise, as a receiver does it at once. @throws where signature or time are wrong */
export const verifyNow = (secret: string, { body, headers }: Received): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>);
