import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Dockerfile, DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { fromRoot, readText } from './testing/files.ts';

describe('the Dockerfile', () => {
  let text: string;
  let file: Dockerfile;
  beforeAll(async () => {
    text = await readText(fromRoot('Dockerfile'));
    file = DockerfileParser.parse(text);
  });
  const all = (keyword: string) =>
    file
      .getInstructions()
      .filter((instruction) => instruction.getKeyword() === keyword)
      .map((instruction) => instruction.getArgumentsContent());

  it('has no lint', () => {
    expect(validate(text)).toEqual([]);
  });

  it('runs on the very Node that the tests run on', async () => {
    const { devDependencies } = JSON.parse(await readText(fromRoot('package.json')));
    const images = file.getFROMs().map((from) => from.getImage());
    expect(new Set(images)).toEqual(new Set([`node:${devDependencies.node}-slim`]));
  });

  it('has a number for a user, not root, so that Kubernetes can tell', () => {
    expect(all('USER').at(-1)).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  });

  it('starts the program itself, without a shell that would keep signals away from it', () => {
    for (const keyword of ['ENTRYPOINT', 'CMD'])
      expect(JSON.parse(all(keyword).at(-1) ?? '')).toBeInstanceOf(Array);
    expect(all('STOPSIGNAL')).toEqual(['SIGTERM']);
  });

  it('installs what the lockfile says, for production only', () => {
    const installs = all('RUN').filter((step) => step?.includes('install'));
    expect(installs).toHaveLength(2);
    for (const step of installs) expect(step).toContain('install --prod --frozen-lockfile');
  });

  it('has dependencies in a layer before the code, which other code leaves as it is', () => {
    const [console, ...rest] = all('COPY').reverse();
    expect(console).toBe('/app/console/dist console/dist');
    expect(rest.reverse()).toEqual(['. .', '/app ./', '. .', '/app ./', '. .']);
  });
});
