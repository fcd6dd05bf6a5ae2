import { describe, expect, it } from '@jest/globals';
import { listQueryValues, showAddress, showOrigin, showPath, showSentence } from './clean.ts';

const id = '018f0000-0000-7000-8000-00000000cccc';
const route = (path: string, plane: 'runtime' | 'platform' = 'runtime') => ({ path, plane });

describe('what of a call is shown', () => {
  it('is the path of its route, with collection and ids alone', () => {
    expect(showPath(`/db/notes/${id}`, route('/db/:collection/:id'))).toBe(`/db/notes/${id}`);
    expect(showPath('/db/notes/my-id', route('/db/:collection/:id'))).toBe('/db/notes/my-id');
    expect(showPath('/storage/files/x/my%20cv.pdf', route('/storage/files/:id/:name'))).toBe(
      '/storage/files/x/:name',
    );
    expect(showPath(`/groups/join/secret`, route('/groups/join/:token'))).toBe(
      '/groups/join/:token',
    );
    expect(showPath(`/users/${id}`, route('/users/:userId'))).toBe(`/users/${id}`);
    expect(
      showPath(
        '/projects/p1/collections/a',
        route('/projects/:projectId/collections/:collection', 'platform'),
      ),
    ).toBe('/api/platform/projects/p1/collections/a');
    expect(showPath(`/db/bk_${'k'.repeat(43)}`, route('/db/:collection'))).toBe('/db/:collection');
  });

  it('is what somebody has typed where there is no route, cut and without what looks secret', () => {
    expect(showPath('/todos/1', undefined)).toBe('/todos/1');
    expect(showPath('/u/ada%40example.com/bk_abcdefghij/%zz', undefined)).toBe('/u/…/…/%zz');
    expect(showPath(`/${'a/'.repeat(10_000)}`, undefined)).toHaveLength(300);
  });

  it('is a sentence without values of the query', () => {
    const search = `?where=${encodeURIComponent('{"pet":"Mr Cat","n":[12345]}')}&q=two+words&x&y=%zz`;
    const values = listQueryValues(search);
    expect(
      showSentence('"Mr Cat" and two words, two+words, 12345: "pet" is no number', values),
    ).toBe('"…" and …, …, …: "pet" is no number');
    expect(listQueryValues(`?${'a=b&'.repeat(100_000)}`).length).toBeLessThan(500);
    expect(showSentence('a\u0000b\u202e\ud800c', [])).toBe('a b \ufffdc');
  });

  it.each([
    ['203.0.113.9', '203.0.113.0/24'],
    ['2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8::/64', '2001:db8::/48'],
    ['::/64', '::/48'],
    ['unknown', 'unknown'],
  ])('is the network of %s', (address, shown) => expect(showAddress(address)).toBe(shown));

  it.each([
    ['https://shop.example', 'shop.example'],
    ['http://localhost:5173', 'localhost:5173'],
    ['https://ada:secret@shop.example/path?token=1', 'shop.example'],
    ['null', null],
    ['file:///etc/passwd', null],
    [`https://${'a'.repeat(1_000_000)}`, null],
    [undefined, null],
  ])('is the host of an origin', (origin, shown) => expect(showOrigin(origin)).toBe(shown));
});
