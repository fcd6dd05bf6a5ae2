import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** Runs docker with these arguments, and this input. @returns what it printed @throws Error where it failed */
export type Docker = (args: readonly string[], input?: string) => Promise<string>;

export const runDocker: Docker = async (args, input = '') => {
  const child = spawn('docker', args);
  // One that ends before it has read all says why by itself.
  child.stdin.on('error', () => {}).end(input);
  const [printed, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (code !== 0) throw new Error(`docker ${args.join(' ')}: ${errors}`);
  return printed;
};
