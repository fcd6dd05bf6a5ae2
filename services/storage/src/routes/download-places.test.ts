import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { type Identity, identityHeader } from '@backlot/identity';
import { anonymous, findTestRoute, signed, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, servicePath, type TestBed, userB } from '../testing/test-bed.ts';

const MIB = 1024 * 1024;

describe('downloads', () => {
  let bed: TestBed;
  beforeAll(async () => {
    // An owner has two places, and an address one.
    bed = await createTestBed({ maxDownloads: 6 });
  });
  afterAll(() => bed.close());

  it('that an address does not read keep its own further ones waiting, and nobody else’s', async () => {
    const content = Buffer.alloc(32 * MIB, 1);
    const { url } = (await bed.upload(content)).body;
    const path = servicePath(url);
    /** Its answer is not read. */
    const open = async (identity: Identity): Promise<IncomingMessage> => {
      const headers = { [identityHeader]: signed(identity, findTestRoute('GET', path)) };
      const [res] = await once(
        request(bed.http.url + path, { headers, agent: false }).end(),
        'response',
      );
      return (res as IncomingMessage).on('error', () => {});
    };
    const caller = anonymous({ ip: '192.0.2.1' });
    const first = await open(caller);
    expect(first.statusCode).toBe(200);
    const further = [1, 2].map(() => open(caller));
    const refused = await Promise.race(further);
    expect(refused.statusCode).toBe(503);
    expect(JSON.parse(Buffer.concat(await refused.toArray()).toString())).toMatchObject({
      code: 'overloaded',
      error: expect.stringContaining('downloads'),
    });

    const stranger = anonymous({
      ip: '192.0.2.2',
      project: { ...testProject, ownerId: userB },
    });
    const found = await bed.get(url, { identity: stranger });
    expect([found.status, found.bytes.equals(content)]).toEqual([200, true]);

    const etag = String(found.headers.get('etag'));
    for (const [asked, status] of [
      [{ method: 'HEAD' }, 200],
      [{ headers: { 'if-none-match': etag } }, 304],
    ] as const)
      expect((await bed.get(url, { ...asked, identity: caller })).status).toBe(status);

    first.destroy();
    const answers = await Promise.all(further);
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 503]);
    for (const answer of answers) answer.destroy();
  });
});
