import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type Address, from } from '../neighbours/addresses.ts';

interface StreamOptions {
  address?: Address;
  headers?: Record<string, string>;
}

const mostTries = 60;
const retryMs = 1000;

/** As `openStream`, by who comes again where there is no room or no time. */
export const openPatiently = async (...call: Parameters<typeof openStream>): Promise<void> => {
  for (let tries = 1; ; tries++)
    try {
      return await openStream(...call);
    } catch (error) {
      if (tries === mostTries) throw error;
      await pause(retryMs);
    }
};

/** A stream on a connection of its own, that stays open; resolves once it is ready. @param onData JSON of each event */
export const openStream = (
  url: string,
  { address, headers = {} }: StreamOptions,
  onData: (data: string) => void = () => {},
): Promise<void> =>
  new Promise((resolve, reject) => {
    const req = request(url, { agent: false, headers, ...from(address) }, (res) => {
      if (res.statusCode !== 200) {
        res.resume();
        return reject(new Error(`A stream was answered ${res.statusCode}.`));
      }
      let rest = '';
      res.setEncoding('utf8').on('data', (part: string) => {
        const lines = (rest + part).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (line.startsWith('data: ')) onData(line.slice(6));
        resolve();
      });
      res.on('error', () => {});
    });
    req.on('error', reject);
    req.end();
  });
