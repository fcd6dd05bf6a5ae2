import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { identityHeader } from '@backlot/identity';
import { anonymous, findTestRoute, signed, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import { tusAt } from '../testing/tus.ts';

const MIB = 1024 * 1024;
const formHead = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n';
/** More than one address may leave unread, and all of them come from one: the gateway's. */
const callers = 12;

describe('an upload that is refused while its caller sends', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  /** Sends until the answer comes, as the gateway does for its own caller; answers status and code. */
  const sendUntilAnswered = async (
    method: string,
    path: string,
    headers: Record<string, string | number>,
    head = '',
  ) => {
    const settings = { maxUploadBytes: MIB };
    const identity = signed(
      anonymous({ project: { ...testProject, settings } }),
      findTestRoute(method, path),
    );
    const req = request(bed.http.url + path, {
      method,
      headers: { [identityHeader]: identity, connection: 'keep-alive', ...headers },
    });
    req.on('error', () => {});
    const chunk = Buffer.alloc(MIB);
    let isAnswered = false;
    const send = async () => {
      req.write(head);
      for (let sent = 0; sent < 90 && !isAnswered; sent++)
        await new Promise((resolve) => req.write(chunk, resolve));
    };
    const sending = send();
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    const { code } = JSON.parse(Buffer.concat(await res.toArray()).toString());
    isAnswered = true;
    req.destroy();
    await sending;
    return `${res.statusCode} ${code}`;
  };

  const form = { 'content-type': 'multipart/form-data; boundary=b' };
  const part = {
    'content-type': 'application/offset+octet-stream',
    'tus-resumable': '1.0.0',
    'upload-offset': 7,
  };

  it.each([
    ['by its Content-Length', 413, 'body_too_large', { ...form, 'content-length': 100 * MIB }],
    ['in the middle', 413, 'body_too_large', form],
    ['by its Content-Type', 415, 'unsupported_media_type', { 'content-type': 'text/plain' }],
  ])('gets its answer %s, however many there are', async (_name, status, code, headers) => {
    const answers = await Promise.all(
      Array.from({ length: callers }, () =>
        sendUntilAnswered('POST', '/storage/upload', headers, formHead),
      ),
    );
    expect(new Set(answers)).toEqual(new Set([`${status} ${code}`]));
    expect([await bed.count('files'), await bed.blobs()]).toEqual([0, []]);
  });

  it('gets its answer where it is a part that begins elsewhere, however many there are', async () => {
    const tus = tusAt(() => bed.http.url);
    const answers = await Promise.all(
      Array.from({ length: callers }, async () => {
        const { id } = (await tus.create(100)).body;
        return sendUntilAnswered('PATCH', `/storage/tus/${id}`, part);
      }),
    );
    expect(new Set(answers)).toEqual(new Set(['409 conflict']));
  });
});
