import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  projectSnapshot,
  type TestBed,
  type TestBedOptions,
} from './testing/test-bed.ts';

describe('headers of the gateway', () => {
  let bed: TestBed;
  const given = async (options: TestBedOptions = {}) => {
    bed = await createTestBed(options);
  };
  afterEach(() => bed.close());

  it('answer a preflight before anything else', async () => {
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
        'Authorization, Backlot-Preview, Backlot-View-As, Content-Type, Idempotency-Key, If-Match, X-Request-Id, ' +
          'Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset',
      );
      expect(headers.get('access-control-max-age')).toBe('7200');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
    expect(bed.fake.asked).toEqual([]);
  });

  it('tell a tus client what the protocol may do here, and how large an upload may be', async () => {
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

  it('let a page send every header that its library sends, and no cookie', async () => {
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

  it('are the same on every answer', async () => {
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

  it('promise https only where there is https', async () => {
    await given();
    expect((await bed.call('GET', '/healthz')).headers.get('strict-transport-security')).toBeNull();
  });

  it('keep a well-formed request id and replace any other', async () => {
    await given();
    const keptId = async (given: string) =>
      (await bed.call('GET', '/healthz', { headers: { 'x-request-id': given } })).headers.get(
        'x-request-id',
      );
    for (const good of ['a', 'A-1_b', 'x'.repeat(64)]) expect(await keptId(good)).toBe(good);
    for (const bad of ['x'.repeat(65), 'a b', 'a,b', '<script>', 'a"b']) {
      expect(await keptId(bad)).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});
