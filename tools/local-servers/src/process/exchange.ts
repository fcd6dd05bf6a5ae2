import { createConnection } from 'node:net';

const timeoutMs = 1_000;

/** True when a server at 127.0.0.1 answers what was sent with something that begins so. */
export function answersWith(
  port: number,
  sent: string,
  expected: (answer: Buffer) => boolean,
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    let answer = Buffer.alloc(0);
    const settle = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(timeoutMs, () => settle(false));
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
    socket.once('connect', () => socket.write(sent, 'latin1'));
    socket.on('data', (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      if (expected(answer)) settle(true);
    });
  });
}
