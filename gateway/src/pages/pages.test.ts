import { createHash } from 'node:crypto';
import { openApiDocument, routes } from '@backlot/contract';
import { nothingMissing, type Readiness } from '@backlot/http';
import { createRegistry, metricsListener } from '@backlot/telemetry';
import { serveForTest, until } from '@backlot/testing';
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

  it('is alive, and ready when nothing is missing', async () => {
    let look = async (): Promise<Readiness> => nothingMissing;
    await given({ deps: { ready: () => look() } });
    expect(await bed.call('GET', '/healthz')).toMatchObject({ status: 200, body: { ok: true } });
    expect(await bed.call('GET', '/readyz')).toMatchObject({ status: 200, body: { ok: true } });
    look = async () => ({
      missing: ['records', 'postgresql'],
      degraded: ['secrets'],
      reasons: { postgresql: 'disk_full' },
    });
    bed.clock.now += 1000;
    expect(await bed.call('GET', '/readyz')).toMatchObject({
      status: 503,
      body: {
        ok: false,
        missing: ['records', 'postgresql'],
        degraded: ['secrets'],
        reasons: { postgresql: 'disk_full' },
      },
    });
    look = async () => ({ ...nothingMissing, degraded: ['postgresql'] });
    bed.clock.now += 1000;
    expect(await bed.call('GET', '/readyz')).toMatchObject({
      status: 200,
      body: { ok: true, degraded: ['postgresql'] },
    });
    look = () => Promise.reject(new Error('broken'));
    bed.clock.now += 1000;
    expect((await bed.call('GET', '/readyz')).status).toBe(503);
    expect((await bed.call('GET', '/healthz')).status).toBe(200);
  });

  it('looks for readiness once a second, for all who ask', async () => {
    let looks = 0;
    let finish = () => {};
    const looked = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const ready = async () => {
      looks++;
      await looked;
      return nothingMissing;
    };
    await given({ deps: { ready } });
    const asking = Array.from({ length: 20 }, () => bed.call('GET', '/readyz'));
    await until(() => looks > 0);
    bed.clock.now += 5000;
    asking.push(bed.call('GET', '/readyz'));
    finish();
    for (const answer of asking) expect((await answer).status).toBe(200);
    bed.clock.now += 999;
    await bed.call('GET', '/readyz');
    expect(looks).toBe(1);
    bed.clock.now += 1;
    await bed.call('GET', '/readyz');
    expect(looks).toBe(2);
  });

  it('answers a preflight before anything else', async () => {
    await given();
    for (const path of [
      '/api/runtime/nothing/x',
      '/api/runtime/demo/db/notes',
      '/anything',
      '/api/%',
    ]) {
      const { status, headers, body } = await bed.call('OPTIONS', path, { token: 'bad' });
      expect([path, status, body]).toEqual([path, 204, '']);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-allow-methods')).toBe(
        'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      );
      expect(headers.get('access-control-allow-headers')).toBe(
        'Authorization, Content-Type, Idempotency-Key, If-Match, X-Request-Id, ' +
          'Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset',
      );
      expect(headers.get('access-control-max-age')).toBe('7200');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
    expect(bed.fake.asked).toEqual([]);
  });

  it('tells a tus client what the protocol may do here, and how large an upload may be', async () => {
    await given();
    const ask = async (path: string, headers = {}) => {
      const answer = await bed.call('OPTIONS', path, { headers });
      return ['tus-resumable', 'tus-version', 'tus-extension', 'tus-max-size'].map((name) =>
        answer.status === 204 ? answer.headers.get(name) : answer.status,
      );
    };
    const usual = ['1.0.0', '1.0.0', 'creation,expiration,termination'];
    const tus = '/api/runtime/demo/storage/tus';
    for (const path of [tus, `${tus}/`, `${tus}/018f0000-0000-4000-8000-000000000000?x=1`])
      expect([path, await ask(path)]).toEqual([path, [...usual, String(50 * 1024 * 1024)]]);
    const large = projectSnapshot({
      id: 'large',
      number: 1009,
      settings: { maxUploadBytes: 70_000_000 },
    });
    bed.fake.projects.set('large', large);
    expect(await ask('/api/runtime/large/storage/tus')).toEqual([...usual, '70000000']);
    bed.fake.asked.length = 0;
    expect(
      await ask('/api/runtime/x/storage/tus', { 'Access-Control-Request-Method': 'POST' }),
    ).toEqual([null, null, null, null]);
    expect(bed.fake.asked).toEqual([]);
    expect(await ask('/api/runtime/demo/storage/upload')).toEqual([null, null, null, null]);
  });

  it('lets a page send every header that its library sends, and no cookie', async () => {
    await given();
    const usual = await bed.call('OPTIONS', '/api/runtime/demo/db/notes');
    const preflight = (asked: string) =>
      bed.call('OPTIONS', '/api/runtime/demo/db/notes', {
        headers: { 'Access-Control-Request-Headers': asked },
      });
    for (const asked of [
      'apikey,authorization,prefer,x-client-info',
      'authorization, cache-control, content-type, x-supabase-api-version',
      Array.from({ length: 50 }, (_, n) => `x-${n}`).join(','),
    ]) {
      const { status, headers } = await preflight(asked);
      expect([status, headers.get('access-control-allow-headers')]).toEqual([204, asked]);
      expect(headers.get('vary')).toBe('Access-Control-Request-Headers');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
    for (const asked of ['a b', 'a:b', '<b>', 'x'.repeat(65), ',', 'x,'.repeat(60)]) {
      const { status, headers } = await preflight(asked);
      expect([status, headers.get('access-control-allow-headers')]).toEqual([
        204,
        usual.headers.get('access-control-allow-headers'),
      ]);
    }
  });

  it('sets the same headers on every answer', async () => {
    await given({ config: { publicUrl: 'https://api.example.org' } });
    for (const path of [
      '/',
      '/healthz',
      '/docs',
      '/api/x',
      '/api/%',
      '/api/runtime/nothing/x',
      '/api/runtime/demo/db/notes',
    ]) {
      const { headers } = await bed.call('GET', path);
      expect(Object.fromEntries(headers)).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-expose-headers':
          'RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, ETag, Idempotent-Replayed, ' +
          'Location, Backlot-Hint, Accept-Ranges, Content-Disposition, Content-Range, Tus-Resumable, ' +
          'Upload-Offset, Upload-Length, Upload-Metadata, Upload-Expires, X-File-Id, X-File-Url',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; .*frame-ancestors 'none'$/,
        ),
        'cross-origin-resource-policy': 'cross-origin',
        'referrer-policy': 'no-referrer',
        'strict-transport-security': 'max-age=31536000',
        'x-content-type-options': 'nosniff',
        'x-request-id': expect.any(String),
      });
      expect(headers.get('x-powered-by')).toBeNull();
    }
  });

  it('promises https only where there is https', async () => {
    await given();
    expect((await bed.call('GET', '/healthz')).headers.get('strict-transport-security')).toBeNull();
  });

  it('keeps a well-formed request id and replaces any other', async () => {
    await given();
    const idOf = async (given: string) =>
      (await bed.call('GET', '/healthz', { headers: { 'x-request-id': given } })).headers.get(
        'x-request-id',
      );
    for (const good of ['a', 'A-1_b', 'x'.repeat(64)]) expect(await idOf(good)).toBe(good);
    for (const bad of ['x'.repeat(65), 'a b', 'a,b', '<script>', 'a"b']) {
      expect(await idOf(bad)).toMatch(/^[0-9a-f-]{36}$/);
    }
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

  it('shows a page of the API with scripts and styles from here alone', async () => {
    await given();
    const { status, headers, body } = await bed.call('GET', '/docs');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(body).not.toMatch(/<script>|\son\w+=|https?:/);
    const links = [...String(body).matchAll(/(?:src|href)="([^"]+)"/g)].map(
      (match) => match[1] ?? '',
    );
    expect(links.length).toBeGreaterThan(3);
    for (const link of links)
      expect([link, (await bed.call('GET', link)).status]).toEqual([link, 200]);
    expect((await bed.call('GET', '/docs/package.json')).body.code).toBe('route_not_found');
    expect((await bed.call('GET', '/docs/%2e%2e/package.json')).body.code).toBe('route_not_found');
  });

  it('welcomes people with a page, and programs with links that all lead somewhere', async () => {
    let missing: string[] = [];
    await given({
      config: { publicUrl: 'https://api.example.org' },
      deps: { ready: async () => ({ ...nothingMissing, missing }) },
    });
    const asBrowser = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };
    const page = await bed.call('GET', '/', asBrowser);
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    expect(page.headers.get('vary')).toContain('Accept');
    expect(page.headers.get('content-security-policy')).not.toMatch(/unsafe|script/);
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
      'Not ready: records, &lt;b&gt; can not answer.',
    );
  });

  it.each([
    ['/sdk.js', ['BacklotError', 'createClient', 'newId']],
    ['/sdk-uploads.js', ['uploadInParts']],
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

  it.each(['sdk', 'sdk-uploads'])('serves types and a source map beside /%s.js', async (name) => {
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
  });

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

  it('shows the page of links with its own script and style alone', async () => {
    await given();
    const { status, headers, body } = await bed.call('GET', '/account');
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    const policy = String(headers.get('content-security-policy'));
    for (const tag of ['script', 'style']) {
      const [, text = ''] = new RegExp(`<${tag}>([^]*)</${tag}>`).exec(body) ?? [];
      const hash = createHash('sha256').update(text).digest('base64');
      expect(policy).toContain(`${tag}-src 'sha256-${hash}';`);
    }
    expect(policy).not.toContain('unsafe');
    expect(body).not.toMatch(/\son\w+=|https?:/);
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

  it('counts calls by operation and status for a port of its own', async () => {
    const registry = createRegistry('gateway');
    await given({ deps: { registry } });
    await bed.call('GET', '/api/runtime/demo/db/notes');
    await bed.call('GET', '/api/runtime/demo/nowhere');
    const metrics = await serveForTest(metricsListener(registry));
    const { body, headers } = await metrics.call('GET', '/metrics');
    expect(headers.get('content-type')).toContain('text/plain');
    expect(body).toMatch(
      /backlot_http_requests_total\{operation="listRecords",status="200",service="gateway"\} 1/,
    );
    expect(body).toMatch(
      /backlot_http_requests_total\{operation="none",status="404",service="gateway"\} 1/,
    );
    await metrics.stop();
  });
});
