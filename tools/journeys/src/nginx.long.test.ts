import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@backlot/local-servers';
import { until } from '@backlot/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { expectHeardOnce } from './npm-event-source.ts';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

/** nginx as it is without settings, but for where it listens and writes. */
const config = (folder: string, port: number, target: string) => `
  ${process.getuid?.() === 0 ? 'user root;' : ''}
  daemon off;
  pid ${folder}/pid;
  error_log ${folder}/error.log;
  events {}
  http {
    access_log off;
    ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
    server {
      listen 127.0.0.1:${port};
      location / { proxy_pass ${target}; }
    }
  }`;

let platform: PlatformUnderTest;
beforeAll(async () => {
  platform = await platformUnderTest('http');
}, 300_000);
afterAll(() => platform?.stop());

// Where there is none, CONTRIBUTING.md says what is not tried.
it('streams pass nginx with its defaults', async () => {
  if (spawnSync('nginx', ['-v']).status !== 0)
    return console.warn('There is no nginx here: streams were not tried through it.');
  const folder = await mkdtemp(join(tmpdir(), 'backlot-nginx-'));
  const port = await findFreePort(27_000 + Math.floor(Math.random() * 2_000));
  const file = join(folder, 'nginx.conf');
  await writeFile(file, config(folder, port, `http://127.0.0.1:${new URL(platform.url).port}`));
  const nginx = spawn('nginx', ['-p', folder, '-c', file], { stdio: 'inherit' });
  try {
    const url = `http://127.0.0.1:${port}`;
    await until(async () => (await fetch(`${url}/healthz`)).ok, { what: 'nginx' });
    await expectHeardOnce(platform, url);
    expect(nginx.exitCode).toBeNull();
  } finally {
    nginx.kill();
    await once(nginx, 'exit');
    await rm(folder, { recursive: true, force: true });
  }
});
