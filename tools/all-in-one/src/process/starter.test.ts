import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from '@backlot/testing';
import { afterEach, expect, it } from '@jest/globals';

const module = new URL('./starter.ts', import.meta.url).href;
/** Says so when its starter is gone, and that it is there meanwhile. */
const script = `import(${JSON.stringify(module)}).then(({ onStarterGone }) => {
  onStarterGone(() => { console.log('gone'); process.exit(); }, 20);
  setInterval(() => console.log('here'), 20);
})`;
/** Starts `sh`, that starts `sh`, that starts the script, as npm and pnpm do. */
const manager = `
  const { spawn } = require('node:child_process');
  console.log('manager ' + process.pid);
  const env = { ...process.env, npm_command: 'exec', npm_lifecycle_event: process.env.EVENT };
  spawn('sh', ['-c', 'sh -c "$INNER; true"; true'], { env, stdio: 'inherit' });
`;
const shell = `
  const { spawn } = require('node:child_process');
  spawn(process.execPath, ['-e', process.env.MANAGER], { stdio: 'inherit', detached: true });
  process.stdin.once('data', () => process.exit());
`;

const ends: (() => unknown)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A shell that starts a package manager, of which all write into one output. */
const start = async (event: string) => {
  const { npm_command: _command, npm_lifecycle_event: _event, ...env } = process.env;
  const inner = `"${process.execPath}" -e "$SCRIPT"`;
  const child = spawn(process.execPath, ['-e', shell], {
    env: { ...env, MANAGER: manager, INNER: inner, SCRIPT: script, EVENT: event },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data) => {
    output += data;
  });
  const count = (line: string) => output.split('\n').filter((found) => found === line).length;
  await until(() => count('here') > 0);
  const pid = Number(/manager (\d+)/.exec(output)?.[1]);
  ends.push(() => {
    // The group of the manager, and of nobody else.
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {}
    child.kill('SIGKILL');
  });
  const isHereFor = async (lines: number) => {
    const before = count('here');
    await until(() => count('here') >= before + lines);
  };
  return { child, pid, count, isHereFor };
};

it('a script outlives the shell of its package manager’s caller, and not the package manager', async () => {
  const { child, pid, count, isHereFor } = await start('dev');
  const exited = once(child, 'exit');
  child.stdin.write('\n');
  await exited;
  await isHereFor(10);
  expect(count('gone')).toBe(0);
  process.kill(pid, 'SIGKILL');
  await until(() => count('gone') === 1);
});

it('what is no script of the platform outlives whoever started it', async () => {
  const { pid, count, isHereFor } = await start('');
  process.kill(pid, 'SIGKILL');
  await isHereFor(10);
  expect(count('gone')).toBe(0);
});
