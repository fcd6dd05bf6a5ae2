import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  path: string;
  authorization: string | undefined;
  body: string;
}

export interface SendgridStub {
  baseUrl: string;
  requests: SeenRequest[];
  /** What the next requests get; 202 without it. */
  answer: { status: number; body?: string } | 'break off' | 'silence';
  stop(): Promise<void>;
}

/** Stands where SendGrid would. */
export const startSendgridStub = async (): Promise<SendgridStub> => {
  const server = createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8');
    req.on('data', (chunk: string) => {
      body += chunk;
    });
    req.on('end', () => {
      const { answer, requests } = stub;
      requests.push({ path: req.url ?? '', authorization: req.headers.authorization, body });
      if (answer === 'break off') req.socket.destroy();
      else if (answer !== 'silence') {
        res.writeHead(answer.status, { 'Content-Type': 'application/json' });
        res.end(answer.body ?? '');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stub: SendgridStub = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    answer: { status: 202 },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return stub;
};
