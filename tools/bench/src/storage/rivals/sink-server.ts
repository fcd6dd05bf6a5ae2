/**
 * What uploads are compared with: node:http that pipes a request to a file, nothing else. Below
 * `/synced` it answers when the file is on the disk, below `/kept` when its name is too, as the platform does.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const [port = '', folder = ''] = process.argv.slice(2);

const syncFolder = async () => {
  const handle = await open(folder);
  await handle.sync();
  await handle.close();
};

const store = async (req: IncomingMessage, path: string) => {
  const isKept = req.url === '/kept';
  await pipeline(req, createWriteStream(path, { flush: isKept || req.url === '/synced' }));
  if (isKept) await syncFolder();
};

createServer(async (req, res) => {
  const path = join(folder, randomUUID());
  try {
    await store(req, path);
    res.end();
  } catch {
    // A load generator goes in the middle of its last calls.
    res.destroy();
  }
  if (req.url !== '/kept') await rm(path, { force: true });
}).listen(Number(port), '127.0.0.1');
