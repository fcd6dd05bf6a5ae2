import { ApiError } from '@backlot/contract';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readPath } from './read-path.ts';

const runtime = (path: string, search = '') => ({
  plane: 'runtime',
  projectId: 'demo',
  path,
  search,
});

describe('the address of a call', () => {
  it.each([
    ['/api/runtime/demo/auth/me', runtime('/auth/me')],
    ['/api/runtime/demo', runtime('/')],
    ['/api/runtime/demo/', runtime('/')],
    ['/api/runtime/demo?x=1', runtime('/', '?x=1')],
    ['/api/runtime/demo/db/notes?where=%7B%7D&x=?', runtime('/db/notes', '?where=%7B%7D&x=?')],
    ['/api/runtime/demo/auth/.well-known/jwks.json', runtime('/auth/.well-known/jwks.json')],
    ['http://host:1/api/runtime/demo/auth/me', runtime('/auth/me')],
    [
      '/api/platform/projects?limit=1',
      { plane: 'platform', projectId: '', path: '/projects', search: '?limit=1' },
    ],
    ['/mailbox/demo', runtime('/mailbox')],
    ['/mailbox/demo?key=x', runtime('/mailbox', '?key=x')],
    ['/mailbox/demo/x/html', runtime('/mailbox/x/html')],
    ['/mailbox', null],
    ['/api/platform', null],
    ['/api/other/x', null],
    ['/docs', null],
    ['*', null],
  ])('%s', (url, expected) => {
    expect(readPath(url)).toEqual(expected);
  });

  it('has one spelling for one meaning', () => {
    expect(readPath('/api/runtime/demo/%64b/a%2fb')?.path).toBe('/db/a%2Fb');
    expect(readPath('/%61pi/runtime/demo/db')).toBeNull();
    expect(readPath('/api/runtime/de%6Do/db/%5Fcount')).toEqual(runtime('/db/_count'));
    expect(readPath('/api/runtime/demo/db/a:b')?.path).toBe('/db/a%3Ab');
  });

  it('takes UTF-8 that was not percent-encoded, as Node shows it', () => {
    const raw = Buffer.from('é').toString('latin1');
    expect(readPath(`/api/runtime/demo/db/${raw}?q=${raw}`)).toEqual(
      runtime('/db/%C3%A9', '?q=%C3%A9'),
    );
  });

  it.each(['%', '%zz', '%C3%28', '..', '.', '%2e%2E', 'a/../b', '%00', 'a%0Ab', 'a#b'])(
    'refuses the path %s',
    (path) => {
      expect(() => readPath(`/api/runtime/demo/db/${path}`)).toThrow(ApiError);
    },
  );

  it('is canonical: read again it stays the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (one, two) => {
        let first: ReturnType<typeof readPath>;
        try {
          first = readPath(`/api/runtime/demo/${encodeURI(one)}/${two}`);
        } catch (error) {
          expect(error instanceof ApiError || error instanceof URIError).toBe(true);
          return;
        }
        expect(readPath(`/api/runtime/demo${first?.path}${first?.search}`)).toEqual(first);
      }),
    );
  });
});
