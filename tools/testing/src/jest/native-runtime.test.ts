import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const root = new URL('../../../../', import.meta.url);
const jest = fileURLToPath(new URL('node_modules/jest/bin/jest.js', root));

/** Fails where something of the other file of the same text is left. */
const leavesAll = `
import { afterEach, expect, it, jest } from '@jest/globals';
import { loaded } from './kept.ts';

const isSecond = loaded.push('') === 2;

it('finds the process as it was', () => {
  expect(process.env.LEFT_BEHIND).toBeUndefined();
  expect(process.env.TZ).toBe('Asia/Tokyo');
  expect(process.exitCode).toBeUndefined();
  expect(jest.isMockFunction(console.log)).toBe(false);
  expect(new Date().getFullYear()).toBeGreaterThan(2000);
  process.env.LEFT_BEHIND = '1';
  process.env.TZ = 'UTC';
  process.exitCode = 3;
  jest.spyOn(console, 'log').mockImplementation(() => {});
  jest.useFakeTimers({ now: 0 });
});

(isSecond ? it : it.skip)('is the second that loads the same module', () => {});
`;

describe('test files in one worker', () => {
  it('share modules, and leave each other nothing else', async () => {
    const rootDir = await mkdtemp(join(tmpdir(), 'backlot-jest-'));
    try {
      for (const name of ['one.test.ts', 'two.test.ts']) {
        await writeFile(join(rootDir, name), leavesAll);
      }
      await writeFile(join(rootDir, 'kept.ts'), 'export const loaded: string[] = [];');
      await writeFile(join(rootDir, 'package.json'), '{"type":"module"}');
      const config = {
        rootDir,
        testMatch: ['**/*.test.ts'],
        extensionsToTreatAsEsm: ['.ts'],
        transform: {},
        testEnvironment: fileURLToPath(new URL('native-environment.ts', import.meta.url)),
        runtime: fileURLToPath(new URL('native-runtime.ts', import.meta.url)),
      };
      const { status, stderr } = spawnSync(
        process.execPath,
        [jest, '--runInBand', '--config', JSON.stringify(config)],
        { cwd: rootDir, encoding: 'utf8', env: { ...process.env, TZ: 'Asia/Tokyo' } },
      );
      expect(stderr).toContain('1 skipped, 3 passed, 4 total');
      expect(status).toBe(0);
    } finally {
      await rm(rootDir, { recursive: true });
    }
  });

  it('run in the realm of Node: its errors are instances of Error', async () => {
    const error = await readFile('/does/not/exist').catch((reason: unknown) => reason);
    expect(error instanceof Error).toBe(true);
    expect(error).toBeInstanceOf(Error);
    expect((await readFile(import.meta.filename)) instanceof Uint8Array).toBe(true);
  });
});
