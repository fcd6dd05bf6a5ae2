import { request } from 'node:http';
import { makeRandomContent, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type PlatformUnderTest,
  platformUnderTest,
  settled,
  upstreamModes,
} from './platform-under-test.ts';

const MIB = 1024 * 1024;

describe.each(upstreamModes)('files, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  beforeAll(async () => {
    platform = await platformUnderTest(mode);
    project = await platform.newProject();
  });
  afterAll(() => platform.stop());

  const upload = async (
    content: Uint8Array,
    { token, name = 'a.bin', fields = {} }: UploadOptions = {},
  ) => {
    const form = new FormData();
    for (const [field, value] of Object.entries(fields)) form.append(field, value);
    form.append('file', new Blob([new Uint8Array(content)]), name);
    const response = await fetch(`${platform.url}/api/runtime/${project.id}/storage/upload`, {
      method: 'POST',
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      body: form,
    });
    return {
      status: response.status,
      headers: response.headers,
      body: JSON.parse(await response.text()),
    };
  };
  interface UploadOptions {
    token?: string;
    name?: string;
    fields?: Record<string, string>;
  }
  const bytesAt = async (url: string, headers: Record<string, string> = {}) => {
    const response = await fetch(url, { headers });
    return { response, bytes: Buffer.from(await response.arrayBuffer()) };
  };
  const credits = async () =>
    (await platform.control('GET', '/credits', { token: project.owner.token })).body;

  it('takes a file, shows it to everybody, lists it, deletes it', async () => {
    const { token, id } = await platform.signUp(project.id);
    const content = makeRandomContent(12 * MIB);
    const { status, body } = await upload(content, { token, name: 'Bild ü.bin' });
    expect([status, body.name, body.size]).toEqual([201, 'Bild ü.bin', content.length]);

    const { response, bytes } = await bytesAt(body.url);
    expect(response.status).toBe(200);
    expect(bytes.equals(content)).toBe(true);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'public, max-age=31536000, immutable',
      'access-control-allow-origin': '*',
    });
    const part = await bytesAt(body.url, { range: 'bytes=5-9' });
    expect(part.response.status).toBe(206);
    expect(part.bytes.equals(content.subarray(5, 10))).toBe(true);
    const etag = response.headers.get('etag') ?? '';
    expect((await bytesAt(body.url, { 'if-none-match': etag })).response.status).toBe(304);
    const head = await fetch(body.url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(12 * MIB)]);

    const listed = await project.api('GET', '/storage/files', { token });
    expect(listed.body.items).toMatchObject([
      { id: body.id, ownerId: id, size: content.length, visibility: 'public' },
    ]);
    const all = await platform.control('GET', `/projects/${project.id}/files`, {
      token: project.owner.token,
    });
    expect(all.body).toMatchObject({ totalFiles: 1, totalBytes: content.length });

    await until(async () => (await credits()).balanceMillicredits === 998_000);
    expect(await project.api('DELETE', `/storage/files/${body.id}`)).toMatchObject({ status: 401 });
    expect(await project.api('DELETE', `/storage/files/${body.id}`, { token })).toMatchObject({
      status: 200,
    });
    expect((await bytesAt(body.url)).response.status).toBe(404);
  });

  it('opens a public file whatever credential comes along, a private one to its own', async () => {
    const { token } = await platform.signUp(project.id);
    const open = (await upload(Buffer.from('open'), { token })).body;
    const hidden = (
      await upload(Buffer.from('hidden'), { token, fields: { visibility: 'private' } })
    ).body;
    const statusAt = async (url: string, credential?: string) =>
      (await bytesAt(url, credential ? { authorization: `Bearer ${credential}` } : {})).response
        .status;
    const stranger = await platform.signUp(project.id);
    for (const credential of [undefined, token, stranger.token, 'made.up.token', 'bk_madeup'])
      expect(await statusAt(open.url, credential)).toBe(200);
    expect(await statusAt(hidden.url, token)).toBe(200);
    expect(await statusAt(hidden.url, project.owner.token)).toBe(200);
    expect(await statusAt(hidden.url)).toBe(404);
    expect(await statusAt(hidden.url, stranger.token)).toBe(404);
    expect(await statusAt(hidden.url, 'made.up.token')).toBe(401);

    const { body: link } = await project.api('POST', `/storage/files/${hidden.id}/sign`, {
      token,
      body: { expiresIn: 60 },
    });
    expect(await statusAt(link.url)).toBe(200);
    const wrong = link.url.replace(/signature=./, (part: string) =>
      part.endsWith('_') ? 'signature=A' : 'signature=_',
    );
    expect(await statusAt(wrong)).toBe(403);
  });

  it('is held to the limit of the project', async () => {
    await platform.control('PATCH', `/projects/${project.id}`, {
      token: project.owner.token,
      body: { settings: { maxUploadBytes: MIB } },
    });
    await settled(() => upload(Buffer.alloc(2 * MIB, 1)), 413);
    expect(await upload(Buffer.alloc(MIB, 1))).toMatchObject({ status: 201 });
  });

  it('lets go of credits and bytes when the caller goes away in the middle', async () => {
    await until(async () => (await credits()).reservedMillicredits === 0);
    const before = await credits();
    const url = new URL(`${platform.url}/api/runtime/${project.id}/storage/upload`);
    const req = request(url, {
      method: 'POST',
      headers: {
        'content-type': 'multipart/form-data; boundary=b',
        'content-length': MIB,
      },
    });
    req.on('error', () => {});
    req.write(
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nthe beginning',
    );
    await until(async () => (await credits()).reservedMillicredits > 0);
    req.destroy();
    await until(async () => (await credits()).reservedMillicredits === 0);
    expect((await credits()).balanceMillicredits).toBe(before.balanceMillicredits);
  });

  it('erases the files of an account with it', async () => {
    const { token } = await platform.signUp(project.id);
    const { body } = await upload(Buffer.from('mine'), { token });
    await project.api('DELETE', '/auth/me', { token });
    await until(async () => (await bytesAt(body.url)).response.status === 404);
  });
});
