import { fileURLToPath } from 'node:url';
import { reachable, startProgram } from '../../program.ts';
import { curlUpload } from '../curl.ts';
import type { Rival } from '../uploads.ts';

export interface Sink {
  pid: number;
  rivals: Rival[];
  /** Where a file is kept, and answered when it would outlive a power cut. */
  keptUrl: string;
  stop(): Promise<void>;
}

const bound = 0.5;

/** Both ways to take a file by node:http; only one of them has it when it says so, as the platform. */
export const startSink = async (port: number, folder: string): Promise<Sink> => {
  const file = fileURLToPath(new URL('./sink-server.ts', import.meta.url));
  const { pid, stop } = startProgram(file, [String(port), folder], {});
  const origin = `http://127.0.0.1:${port}`;
  await reachable(origin, 200);
  const rival = (path: string, name: string) => ({
    name,
    pid,
    send: async (sent: string) => (await curlUpload(origin + path, sent)).seconds,
  });
  return {
    pid,
    keptUrl: `${origin}/kept`,
    rivals: [
      { ...rival('/synced', 'node:http to a file, synced'), bound },
      rival('/', 'node:http to a file, not synced'),
    ],
    stop,
  };
};
