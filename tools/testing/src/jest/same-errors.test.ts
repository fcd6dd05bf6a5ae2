import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';

class OwnError extends Error {}

const nodeError = () => readFile('/does/not/exist').catch((error: unknown) => error);

describe('errors in tests', () => {
  it('are instances of Error also when Node itself threw them', async () => {
    const error = await nodeError();
    expect(error instanceof Error).toBe(true);
    expect(error instanceof TypeError).toBe(false);
    expect(error instanceof OwnError).toBe(false);
  });

  it('keep their classes', () => {
    const own: unknown = new OwnError();
    const type: unknown = new TypeError();
    expect(own instanceof Error).toBe(true);
    expect(own instanceof OwnError).toBe(true);
    expect(type instanceof TypeError).toBe(true);
    expect(type instanceof OwnError).toBe(false);
    expect(type instanceof RangeError).toBe(false);
  });

  it('are told from what is no error', () => {
    for (const value of [undefined, null, 'Error', {}, [], () => undefined]) {
      expect((value as unknown) instanceof Error).toBe(false);
    }
  });

  it('share bytes with Node', async () => {
    expect((await readFile(import.meta.filename)) instanceof Uint8Array).toBe(true);
    expect(new TextEncoder().encode('é') instanceof Uint8Array).toBe(true);
  });
});
