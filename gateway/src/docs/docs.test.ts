import { openApiDocument, routes } from '@backlot/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import { tokenize } from './browser/tokens.js';

const publicUrl = 'https://api.example.org';
const description = openApiDocument(routes) as {
  paths: Record<string, Record<string, { operationId?: string; responses?: object }>>;
};

describe('the documentation', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ deps: { apiDescription: description }, config: { publicUrl } });
  });
  afterAll(() => bed.close());
  const read = async (path: string) => {
    const { status, body, headers } = await bed.call('GET', path);
    return { status, headers, text: String(body) };
  };
  const linksIn = (text: string) =>
    [...text.matchAll(/(?:src|href)="(\/[^"#]*)(?:#[^"]*)?"/g)].map(([, link]) => link ?? '');

  it('allows files of its own alone, and has nothing in the page that would need more', async () => {
    for (const path of [
      '/docs',
      '/docs/guides/records',
      '/docs/rules/api',
      '/docs/api/records',
      '/docs/api/createRecord',
    ]) {
      const { status, headers, text } = await read(path);
      expect([path, status, headers.get('content-type')]).toEqual([
        path,
        200,
        'text/html; charset=utf-8',
      ]);
      const policy = String(headers.get('content-security-policy'));
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
      expect(policy).not.toContain('unsafe');
      expect(text).not.toMatch(/<script>|<style|\sstyle=|<[^>]*\son\w+=/);
      expect(text).not.toMatch(/src="https?:|<link[^>]*href="https?:/);
    }
  });

  it('has a page for each operation, which names each parameter, field and error', async () => {
    const schema = openApiDocument(routes) as never as {
      components: { schemas: Record<string, { properties?: object }> };
    };
    for (const route of routes) {
      const { status, text } = await read(`/docs/api/${route.operationId}`);
      expect([route.operationId, status]).toEqual([route.operationId, 200]);
      for (const name of Object.keys({ ...route.params?.shape, ...route.query?.shape }))
        expect(text).toContain(`<code>${name}</code>`);
      for (const code of route.errors) expect(text).toContain(`<code>${code}</code>`);
      expect(text).toContain(`<code>${route.limit}</code>`);
      const request = route.operationId
        .replace(/^./, (first) => first.toUpperCase())
        .concat('Request');
      for (const name of Object.keys(schema.components.schemas[request]?.properties ?? {}))
        expect(text).toContain(`<code>${name}</code>`);
    }
  });

  it('leads from page to page, forth and back, with no link that leads nowhere', async () => {
    const seen = new Set<string>();
    const waiting = ['/docs'];
    const outside =
      /^\/(design|sdk|llms|$|packages|api\/|mailbox|examples|account|console|healthz|readyz)/;
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (seen.has(path) || outside.test(path)) continue;
      seen.add(path);
      const { status, text, headers } = await read(path);
      expect([path, status]).toEqual([path, 200]);
      if (headers.get('content-type')?.includes('html')) waiting.push(...linksIn(text));
    }
    for (const { operationId } of routes) expect(seen).toContain(`/docs/api/${operationId}`);
    let [path, steps] = ['/docs', 0];
    for (; ; steps += 1) {
      const next = /rel="next" href="([^"]+)"/.exec((await read(path)).text)?.[1];
      if (next === undefined) break;
      expect((await read(next)).text).toContain(`rel="prev" href="${path}"`);
      path = next;
    }
    expect(steps).toBeGreaterThan(routes.length);
  });

  it('can be searched for every operation and every section of a guide', async () => {
    const { text } = await read('/docs');
    const assets = /data-assets="([^"]+)"/.exec(text)?.[1];
    const answer = await bed.call('GET', `${assets}/search.json`);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const paths = answer.body.map(({ path }: { path: string }) => path);
    for (const { operationId } of routes) expect(paths).toContain(`/docs/api/${operationId}`);
    expect(paths).toContain('/docs/guides/records#write');
    for (const path of paths.filter((one: string) => one.includes('#'))) {
      const [page = '', id] = path.split('#');
      expect((await read(page)).text).toContain(`id="${id}"`);
    }
    const old = await bed.call('GET', '/docs/assets/old/main.js');
    expect([old.status, old.headers.get('cache-control')]).toEqual([200, 'no-cache']);
  });

  it.each([
    '/docs/nothing',
    '/docs/api/nothing',
    '/docs/guides/nothing',
    '/docs/assets/x/nothing.js',
    '/docs/assets/x/..%2fdocs.ts',
    '/docs/%2e%2e/package.json',
    '/docs/__proto__',
  ])('has nothing at %s', async (path) => {
    expect(await bed.call('GET', path)).toMatchObject({
      status: 404,
      body: { code: 'route_not_found' },
    });
  });

  it('colours code without changing a character of it', () => {
    const samples: [string, string][] = [
      ['js', 'const a = `x`; // done\nfetch("https://a.b//c"); /* x'],
      ['json', '{"a": [1, -2.5, true, null, "b\\"c"]}'],
      ['sh', 'curl \'https://a.b\' \\\n  -H "x: $TOKEN" # why'],
      ['html', '<p class="a">Hello <b>new</b></p><!-- x --><script>let a = 1;</script>'],
      ['none', '<x> "y"'],
    ];
    for (const [language, code] of samples) {
      const tokens = tokenize(code, language);
      expect(tokens.map(([, text]) => text).join('')).toBe(code);
      expect(new Set(tokens.map(([kind]) => kind)).size).toBeGreaterThan(
        language === 'none' ? 0 : 2,
      );
    }
  });
});

it('a gateway without a description of the API has the guides all the same', async () => {
  const bed = await createTestBed();
  expect((await bed.call('GET', '/docs')).status).toBe(200);
  expect((await bed.call('GET', '/docs/guides/records')).status).toBe(200);
  expect((await bed.call('GET', '/docs/api/createRecord')).status).toBe(404);
  await bed.close();
});
