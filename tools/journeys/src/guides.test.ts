import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@backlot/client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

const folder = fileURLToPath(new URL('../../../docs/guides', import.meta.url));
const guides = readdirSync(folder).filter((file) => file.endsWith('.md'));
/** Whole apps, which quick-starts.test.ts builds and opens. */
const apps = ['html', 'react', 'vue'].map((name) => `quick-start-${name}.md`);

/** What the snippets of a guide are given besides the client. */
const given = ['createClient', 'console', 'ownerToken', 'secretKey', 'projectId'] as const;

const AsyncFunction = (async () => {}).constructor as new (
  ...parameters: string[]
) => (...values: unknown[]) => Promise<void>;

const snippets = (markdown: string) =>
  [...markdown.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = '']) => code).join('\n');

/** What stands behind each `console.log(…); //`. */
const promised = (code: string) =>
  [...code.matchAll(/^ *console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);

const asText = (value: unknown) =>
  typeof value === 'string' || value === undefined ? String(value) : JSON.stringify(value);

describe('the guides', () => {
  let platform: PlatformUnderTest;
  beforeAll(async () => {
    platform = await platformUnderTest('in-process');
  });
  afterAll(() => platform.stop());

  it.each(guides.filter((file) => !apps.includes(file)))('%s prints what it says', async (file) => {
    const { id, owner } = await platform.newProject();
    const { body: key } = await platform.control('POST', `/projects/${id}/keys`, {
      token: owner.token,
      body: { name: 'guide' },
    });
    const code = snippets(readFileSync(join(folder, file), 'utf8'))
      .replaceAll(/^import .*;$/gm, '')
      .replaceAll('https://backlot.example/api/runtime/demo', `${platform.url}/api/runtime/${id}`)
      .replaceAll('https://backlot.example', platform.url);
    const printed: string[] = [];
    const log = (...values: unknown[]) => printed.push(values.map(asText).join(' '));
    const run = new AsyncFunction(...given, code);
    await run(createClient, { log }, owner.token, key.key, id);
    expect(printed).toEqual(promised(code));
    expect(printed.length).toBeGreaterThan(0);
  });

  it('are pages that lead to each other', async () => {
    const index = await (await fetch(`${platform.url}/docs/guides`)).text();
    for (const file of guides) {
      const path = `/docs/guides/${file.slice(0, -'.md'.length)}`;
      expect(index).toContain(`href="${path}"`);
      const answer = await fetch(platform.url + path);
      expect(answer.status).toBe(200);
      const page = await answer.text();
      expect(page).toContain(`${platform.url}/`);
      expect(page).not.toContain('backlot.example/');
    }
  });
});
