import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reachable } from '../../program.ts';

export interface Nginx {
  pid: number;
  stop(): Promise<void>;
}

const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** One process, whose files pass through its memory as ours do. */
const nginxConfig = (port: number, folder: string) => `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  sendfile off;
  ${temporary.map((name) => `${name}_temp_path ${name};`).join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    root ${folder};
  }
}
`;

/** Serves what lies in a folder at `http://127.0.0.1:<port>/`. */
export const startNginx = async (port: number, folder: string): Promise<Nginx> => {
  const own = join(folder, 'nginx');
  await mkdir(own);
  await writeFile(join(own, 'nginx.conf'), nginxConfig(port, folder));
  const child = spawn('nginx', ['-p', own, '-c', 'nginx.conf', '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await once(child, 'spawn').catch((cause: unknown) => {
    throw new Error(
      'The benchmark needs nginx: install the package "nginx" (Debian: apt-get install nginx-light).',
      { cause },
    );
  });
  await reachable(`http://127.0.0.1:${port}/nginx/nginx.conf`, 200);
  return {
    pid: child.pid ?? 0,
    async stop() {
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    },
  };
};
