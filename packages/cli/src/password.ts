import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Asks without showing what is typed; takes the first line where the input is no terminal. */
export const readHidden = async (question: string): Promise<string> => {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const { stdin, stderr } = process;
  if (stdin.isTTY) stderr.write(`${question}: `);
  const lines = createInterface({ input: stdin, output: silent, terminal: stdin.isTTY === true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    if (stdin.isTTY) stderr.write('\n');
  }
};
