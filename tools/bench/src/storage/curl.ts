import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface CurlAnswer {
  seconds: number;
  body: string;
}

/** Uploads a file as a form does. @throws Error that holds any other answer than 200 and 201 */
export const curlUpload = async (
  url: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<CurlAnswer> => {
  const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const { stdout } = await run('curl', [
    '-sS',
    '-F',
    `file=@${path}`,
    '-w',
    '\n%{http_code} %{time_total}',
    ...given,
    url,
  ]);
  const [, body = '', status, seconds] = /^([\s\S]*)\n(\d+) ([\d.]+)$/.exec(stdout) ?? [];
  if (status !== '200' && status !== '201') throw new Error(`${url}: ${status} ${body}`);
  return { seconds: Number(seconds), body };
};
