/**
 * What uploads are compared with: node:http that pipes a request to a file, nothing else. Below
 * `/synced` it answers when the file is on the disk, as the platform does.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const [port = '', folder = ''] = process.argv.slice(2);

createServer(async (req, res) => {
  const path = join(folder, randomUUID());
  await pipeline(req, createWriteStream(path, { flush: req.url === '/synced' }));
  res.end();
  await rm(path);
}).listen(Number(port), '127.0.0.1');
