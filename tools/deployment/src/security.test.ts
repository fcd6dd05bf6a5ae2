import { join, normalize } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { fromRoot, readText } from './testing/files.ts';

interface Proof {
  /** From the root of the repository. */
  file: string;
  /** Of the tests in it. */
  names: string[];
}

const link = /\[[^\]]+\]\(([^)#]+)(?:#[^)]*)?\)((?:,? "[^"]+")*)/g;

const readProofs = (text: string): Proof[] =>
  [...text.matchAll(link)].map(([, target = '', names = '']) => ({
    file: normalize(join('docs', target)),
    names: [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name),
  }));

const isTest = (file: string) => /\.(test|conformance)\.ts$/.test(file);

/** Names as they stand in a file's source, where a quotation mark may be escaped. */
const readSource = async (file: string) => (await readText(fromRoot(file))).replaceAll("\\'", "'");

const faults = async (text: string): Promise<string[]> => {
  const found = await Promise.all(
    readProofs(text).map(async ({ file, names }) => {
      const source = await readSource(file).catch(() => undefined);
      if (source === undefined) return [`${file} does not exist`];
      if (isTest(file) && names.length === 0) return [`${file}: no test is named`];
      return names.filter((name) => !source.includes(name)).map((name) => `${file}: no "${name}"`);
    }),
  );
  return found.flat();
};

/** Rows of tables and points of lists that name neither a test nor the want of one. */
const unproved = (text: string): string[] => {
  const [claims = ''] = text.split('## What is open');
  const lines = claims.split('\n').filter((line) => /^(\||- )/.test(line));
  return lines.filter(
    (line, index) =>
      !/^\|[-| ]+\|$/.test(line) &&
      !/^\|[-| ]+\|$/.test(lines[index + 1] ?? '') &&
      !line.includes('**no test**') &&
      !readProofs(line).some(({ names }) => names.length > 0),
  );
};

describe('docs/security.md', () => {
  let text: string;
  beforeAll(async () => {
    text = await readText(fromRoot('docs/security.md'));
  });

  it('names files and tests that are there', async () => {
    expect(await faults(text)).toEqual([]);
  });

  it('names a test behind each claim, or says that there is none', () => {
    expect(readProofs(text).length).toBeGreaterThan(100);
    expect(unproved(text)).toEqual([]);
  });

  it('is read right', async () => {
    const [one, none] = ['tools/deployment/src/secrets.test.ts', 'tools/none.test.ts'];
    const wrong = `[a](../${one}) "pnpm secrets", "is not there" [b](../${none}) "x" [c](../${one})`;
    expect(await faults(wrong)).toEqual([
      `${one}: no "is not there"`,
      `${none} does not exist`,
      `${one}: no test is named`,
    ]);
    const table = '| a | proof |\n|---|---|\n| b | [x](../x.ts) "y" |\n| c | |\n- d **no test**';
    expect(unproved(table)).toEqual(['| c | |']);
  });
});
