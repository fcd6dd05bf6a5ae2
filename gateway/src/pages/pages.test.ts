import { openApiDocument, routes } from '@backlot/contract';
import { createRegistry, metricsListener } from '@backlot/telemetry';
import { serveForTest } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { parseTarGzip } from 'nanotar';
import {
  createTestBed,
  projectSnapshot,
  type TestBed,
  type TestBedOptions,
} from '../testing/test-bed.ts';

describe('what the gateway answers itself', () => {
  let bed: TestBed;
  const given = async (options: TestBedOptions = {}) => {
    bed = await createTestBed(options);
  };
  afterEach(() => bed.close());

  it('shows the example pages, and 404 beside them', async () => {
    await given({});
    const page = await bed.call('GET', '/examples/shop/receipt.html');
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    const missing = await bed.call('GET', '/examples/shop/../../package.json');
    expect([missing.status, missing.body.code]).toEqual([404, 'route_not_found']);
    expect((await bed.call('GET', '/examples/nothing.html')).status).toBe(404);
    expect((await bed.call('GET', '/examples/react-todo/')).status).toBe(200);
    expect((await bed.call('GET', '/examples/react-todo/src/app.tsx')).status).toBe(404);
  });

  it('describes the API for one project, and for all', async () => {
    await given({
      deps: { apiDescription: openApiDocument(routes) },
      config: { publicUrl: 'https://api.example.org' },
    });
    const one = await bed.call('GET', '/api/runtime/demo/openapi.json');
    expect(one.status).toBe(200);
    expect(one.body.servers).toEqual([{ url: 'https://api.example.org/api/runtime/demo' }]);
    expect(Object.keys(one.body.paths)).toContain('/db/{collection}');
    expect(one.headers.get('ratelimit')).toMatch(/^"caller";r=1199;/);
    expect(await bed.call('HEAD', '/api/runtime/demo/openapi.json')).toMatchObject({
      status: 200,
      body: '',
    });
    expect((await bed.call('GET', '/api/runtime/nothing/openapi.json')).body.code).toBe(
      'project_not_found',
    );
    const all = await bed.call('GET', '/docs/openapi.json');
    expect(all.body.servers).toEqual([
      {
        url: 'https://api.example.org/api/runtime/{projectId}',
        variables: { projectId: { default: 'demo' } },
      },
    ]);
  });

  it('welcomes people with a page, and programs with links that all lead somewhere', async () => {
    let missing: string[] = [];
    await given({
      config: { publicUrl: 'https://api.example.org' },
      deps: {
        services: async () =>
          missing.map((service) => ({ service, dependencies: [], reason: 'not_ready' })),
      },
    });
    const asBrowser = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };
    const page = await bed.call('GET', '/', asBrowser);
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    expect(page.headers.get('vary')).toContain('Accept');
    expect(page.headers.get('content-security-policy')).toMatch(
      /script-src 'self'; style-src 'self';/,
    );
    expect(page.headers.get('content-security-policy')).not.toContain('unsafe');
    expect(page.body).toContain('Create your backend');
    expect(page.body).toContain('curl -s https://api.example.org/api/runtime/platform/auth/signup');
    expect(page.body).toContain('Ready: all services answer.');
    const { status, body } = await bed.call('GET', '/');
    expect([status, body.name]).toEqual([200, 'Backlot']);
    const paths = body.links.map(({ href }: { href: string }) => new URL(href).pathname);
    const served = paths.filter((path: string) => /^\/(docs|sdk|examples|readyz)/.test(path));
    expect(served.length).toBeGreaterThan(4);
    for (const path of served)
      expect([path, (await bed.call('GET', path)).status]).toEqual([path, 200]);
    missing = ['records', '<b>'];
    bed.clock.now += 1000;
    expect((await bed.call('GET', '/', asBrowser)).body).toContain(
      'Not ready: &lt;b&gt;, records can not answer.',
    );
  });

  it.each([
    ['/sdk.js', ['BacklotError', 'createClient', 'newId']],
    ['/sdk-uploads.js', ['uploadInParts']],
    ['/sdk-live.js', ['listen', 'live', 'subscribe', 'watchPresence']],
  ])('serves the client as a module: %s', async (path, exported) => {
    await given();
    const { status, headers, body } = await bed.call('GET', path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    expect(headers.get('last-modified')).not.toBeNull();
    expect(headers.get('cache-control')).toBe('public, max-age=3600');
    const module = `data:text/javascript,${encodeURIComponent(body)}`;
    expect(Object.keys(await import(module))).toEqual(exported);
  });

  it.each(['sdk', 'sdk-uploads', 'sdk-react', 'sdk-sign-in'])(
    'serves types and a source map beside /%s.js',
    async (name) => {
      await given();
      const { headers, body } = await bed.call('GET', `/${name}.js`);
      expect(headers.get('x-typescript-types')).toBe(`/${name}.d.ts`);
      const types = await bed.call('GET', `/${name}.d.ts`);
      expect([types.status, types.headers.get('content-type')]).toEqual([
        200,
        'text/plain; charset=utf-8',
      ]);
      expect(types.body).toContain('export ');
      expect(body).toContain(`//# sourceMappingURL=${name}.js.map`);
      const map = await bed.call('GET', `/${name}.js.map`);
      expect(map.body.sourcesContent).toHaveLength(map.body.sources.length);
    },
  );

  it.each(['client', 'cli'])('serves the package of the %s for npm', async (name) => {
    await given({ config: { publicUrl: 'https://api.example.org' } });
    const read = async () => {
      const response = await fetch(`${bed.url}/packages/backlot-${name}.tgz`);
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        'application/gzip',
      ]);
      return Buffer.from(await response.arrayBuffer());
    };
    const bytes = await read();
    const files = await parseTarGzip(bytes);
    const textOf = (path: string) => files.find((file) => file.name === `package/${path}`)?.text;
    const manifest = JSON.parse(textOf('package.json') ?? '');
    expect(manifest.name).toBe(`@backlot/${name}`);
    for (const entry of [...Object.values(manifest.exports), manifest.bin?.backlot])
      for (const path of Object.values(typeof entry === 'object' ? (entry as object) : { entry }))
        if (path !== undefined) expect(textOf(String(path).replace(/^\.\//, ''))).toBeDefined();
    for (const dependency of Object.keys(manifest.dependencies ?? {}))
      expect(textOf(`node_modules/${dependency}/LICENSE`)).toContain('Permission');
    expect(textOf('README.md')).toContain(`https://api.example.org/packages/backlot-${name}.tgz`);
    expect(files.map((file) => file.name).filter((path) => /(?<!\.d)\.ts$/.test(path))).toEqual([]);
    await bed.close();
    await given({ config: { publicUrl: 'https://api.example.org' } });
    expect((await read()).equals(bytes)).toBe(true);
  });

  it('links one stylesheet and one mark, which browsers keep until they change', async () => {
    await given();
    const { body } = await bed.call('GET', '/account');
    const links = [...String(body).matchAll(/<link [^>]*href="([^"]+)"/g)].map(
      ([, href]) => href ?? '',
    );
    expect(links.map((href) => href.split('?')[0])).toEqual([
      '/design/backlot.css',
      '/design/mark.svg',
    ]);
    for (const href of links) {
      const answer = await bed.call('GET', href);
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ]);
      expect(answer.body).not.toMatch(/@import|https?:\/\/(?!www.w3.org)/);
      const old = await bed.call('GET', `${href}0`);
      expect([old.status, old.headers.get('cache-control')]).toEqual([200, 'public, max-age=3600']);
    }
    expect((await bed.call('GET', '/design/tokens.css')).status).toBe(404);
  });

  it('shows the page of links with a script and the one stylesheet from here alone', async () => {
    await given();
    const { status, headers, body } = await bed.call('GET', '/account');
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    const policy = String(headers.get('content-security-policy'));
    expect(policy).toContain("script-src 'self'; style-src 'self';");
    expect(policy).not.toMatch(/unsafe|sha256/);
    expect(body).not.toMatch(/<style|style=|<script>/);
    expect(body).not.toMatch(/\son\w+=|https?:/);
    const [, src = ''] = /<script type="module" src="([^"]+)"/.exec(String(body)) ?? [];
    const script = await bed.call('GET', src);
    expect([script.status, script.headers.get('content-type')]).toEqual([
      200,
      'text/javascript; charset=utf-8',
    ]);
    expect(script.headers.get('cache-control')).toContain('immutable');
  });

  it.each([
    [{}, undefined, null],
    [
      { allowedOrigins: ['https://a.example', 'https://b.example'] },
      undefined,
      'https://a.example',
    ],
    [{ allowedOrigins: ['https://a.example'] }, ['https://c.example'], 'https://c.example'],
    [
      { accountPageUrl: 'https://d.example/account' },
      ['https://c.example', 'https://d.example'],
      'https://d.example',
    ],
  ])(
    'knows the app to which the page of links leads back: %j %j',
    async (settings, verifiedOrigins, url) => {
      await given();
      const app = { settings, ...(verifiedOrigins && { verifiedOrigins }) };
      bed.fake.projects.set('demo', projectSnapshot({ id: 'demo', number: 1001, ...app }));
      expect(await bed.call('GET', '/account/app/demo')).toMatchObject({
        status: 200,
        body: { name: expect.any(String), url },
      });
      for (const id of ['nobody', 'a%00b'])
        expect((await bed.call('GET', `/account/app/${id}`)).body).toEqual({
          name: null,
          url: null,
        });
    },
  );

  it('leads owners from the page of links to the console', async () => {
    await given();
    const { body } = await bed.call('GET', '/account/app/platform');
    expect(body).toEqual({ name: 'Backlot', url: expect.stringMatching(/^http.*\/console\/$/) });
  });

  it('names the app on the page of links, but with no name that passes for an address', async () => {
    await given();
    for (const [id, name, shown] of [
      ['bakery', 'Corner Bakery', 'Corner Bakery'],
      ['hostile', 'PayPal: sign in at evil.example', 'Project hostile'],
    ] as const) {
      bed.fake.projects.set(id, projectSnapshot({ id, number: 1001, name }));
      expect((await bed.call('GET', `/account/app/${id}`)).body.name).toBe(shown);
    }
  });

  it('answers any other address in the contract’s form', async () => {
    await given();
    for (const path of [
      '/favicon.ico',
      '/metrics',
      '/internal/projects/demo',
      '/api',
      '/api/other',
    ]) {
      expect(await bed.call('GET', path)).toMatchObject({
        status: 404,
        body: { code: 'route_not_found' },
      });
    }
  });

  it.each([
    ['/openapi.json', '/docs/openapi.json'],
    ['/api/openapi.json', '/docs/openapi.json'],
    ['/swagger.json', '/docs/openapi.json'],
    ['/swagger', 'For people: /docs.'],
    ['/redoc', 'The API for people: /docs.'],
    ['/guides', '/docs/guides'],
    ['/llm.txt', '/llms.txt'],
    ['/health', '/healthz'],
    ['/types.d.ts', '/sdk.d.ts'],
    ['/client.js', '/sdk.js'],
    ['/packages', '/packages/backlot-client.tgz and /packages/backlot-cli.tgz'],
    ['/login', '/api/runtime/platform/auth/signup'],
    ['/api/v1/db/todos', '/api/runtime/<project>'],
    ['/db/todos', '/api/runtime/<project>'],
    ['/auth/signin', '/api/runtime/<project>'],
    [`/${'a'.repeat(5000)}`, '/docs and /llms.txt describe it'],
  ])('says of %s where it is: %s', async (path, hint) => {
    await given();
    const { status, body } = await bed.call('GET', path);
    expect([status, body.hint]).toEqual([404, expect.stringContaining(hint)]);
  });

  it('answers an unknown address with a page to browsers, and below /api with JSON to all', async () => {
    await given();
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const page = await bed.call('GET', '/login/<script>', { headers });
    expect([page.status, page.headers.get('content-type'), page.headers.get('vary')]).toEqual([
      404,
      'text/html; charset=utf-8',
      'Accept',
    ]);
    expect(page.body).toContain('<a href="/console">/console</a>');
    expect(page.body).not.toContain('<script>');
    for (const path of ['/api/nothing', '/api/runtime/nobody/db/x'])
      expect([path, (await bed.call('GET', path, { headers })).body.code]).toEqual([
        path,
        path === '/api/nothing' ? 'route_not_found' : 'project_not_found',
      ]);
    expect((await bed.call('POST', '/login', { headers })).body.code).toBe('route_not_found');
  });

  it('counts calls by operation and status for a port of its own', async () => {
    const registry = createRegistry('gateway');
    await given({ deps: { registry } });
    await bed.call('GET', '/api/runtime/demo/db/notes');
    await bed.call('GET', '/api/runtime/demo/nowhere');
    const metrics = await serveForTest(metricsListener(registry));
    const { body, headers } = await metrics.call('GET', '/metrics');
    expect(headers.get('content-type')).toContain('text/plain');
    expect(body).toMatch(
      /backlot_http_requests_total\{operation="listRecords",class="read",status="200",service="gateway"\} 1/,
    );
    expect(body).toMatch(
      /backlot_http_requests_total\{operation="none",class="none",status="404",service="gateway"\} 1/,
    );
    await metrics.stop();
  });
});
