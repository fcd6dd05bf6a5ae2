import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startExim } from './exim.ts';
import { answersWith } from './process/exchange.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start() {
  const parent = await mkdtemp(join(tmpdir(), 'backlot-exim-test-'));
  cleanups.push(() => rm(parent, { recursive: true, force: true }));
  const dataDir = join(parent, 'data');
  const server = await startExim({ dataDir });
  cleanups.push(() => server.stop());
  return { server, dataDir };
}

const letter = [
  'EHLO test',
  'MAIL FROM:<a@example.org>',
  'RCPT TO:<b@example.org>',
  'DATA',
  'Subject: hello',
  '',
  'text',
  '.',
  'QUIT',
  '',
].join('\r\n');

describe('startExim', () => {
  it('takes mail below the ephemeral ports, and leaves nothing when it stops', async () => {
    const { server, dataDir } = await start();
    expect(server.port).toBeLessThan(32_768);
    expect(server.certificate).toContain('BEGIN CERTIFICATE');
    expect(await server.messages()).toEqual([]);
    // exim drops who talks before the greeting, and pipelining comes after EHLO.
    expect(
      await answersWith(server.port, '', (b) => b.toString().startsWith('220 localhost')),
    ).toBe(true);
    await server.stop();
    await expect(access(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await answersWith(server.port, letter, () => true)).toBe(false);
  });
});
