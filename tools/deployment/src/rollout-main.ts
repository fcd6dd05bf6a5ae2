import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { rollOut } from './rollout.ts';

const run = promisify(execFile);

await rollOut(async (args) => {
  const { stdout } = await run('docker', [...args], { maxBuffer: 16 * 2 ** 20 });
  return stdout;
}, console.log);
