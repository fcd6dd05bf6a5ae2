import { once } from 'node:events';
import { connect } from 'node:net';

/** Commands on one connection; resolves when all are answered. @throws Error where one is refused */
const send = async (url: string, commands: readonly string[]): Promise<void> => {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  const lines = commands.map((command) => `${command}\r\n`).join('');
  socket.write(`${lines}QUIT\r\n`);
  let answer = '';
  socket.on('data', (data) => {
    answer += data;
  });
  await once(socket, 'close');
  if (/^-/m.test(answer)) throw new Error(`Redis answered ${answer}`);
};

/** Changes what Redis takes as its password, and ends every connection that it has. */
export const changeRedisPassword = async (url: string, to: string): Promise<string> => {
  const changed = new URL(url);
  changed.password = to;
  await send(url, [`AUTH ${new URL(url).password}`, `CONFIG SET requirepass ${to}`]);
  await send(changed.href, [`AUTH ${to}`, 'CLIENT KILL TYPE normal SKIPME yes']);
  return changed.href;
};
