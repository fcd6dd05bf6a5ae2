import type { ProjectSettings } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOwner, asUser } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encodePng } from '../testing/png.ts';
import { createTestBed, type TestBed, userA, userB } from '../testing/test-bed.ts';
import { tusAt } from '../testing/tus.ts';

const ada = asUser(userA);

describe('what a project lets its callers upload', () => {
  let bed: TestBed;
  const tus = tusAt(
    () => bed.http.url,
    () => bed.clock.now(),
  );
  let storage: NonNullable<ProjectSettings['storage']>;
  /** The caller in the project with its setting. */
  const as = (identity: Identity): Identity => ({
    ...identity,
    project: { ...identity.project, settings: { storage } },
  });
  const upload = (content: string | Uint8Array, identity: Identity, name = 'a.txt') =>
    bed.upload(content, { identity: as(identity), name });
  const open = async (sizeBytes: number, caller: Identity) => {
    const { status, body } = await tus.create(sizeBytes, {}, { identity: as(caller) });
    return { status, id: String(body.id) };
  };
  const send = (id: string, text: string, identity: Identity) =>
    tus.append(id, 0, Buffer.from(text), { identity: as(identity) });
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('is of the types that it names, told from the content, by every way', async () => {
    storage = { types: ['image/*', 'application/pdf'] };
    expect((await upload(encodePng({ width: 1, height: 1 }), ada, 'a.txt')).status).toBe(201);
    for (const identity of [ada, anonymous()]) {
      const refused = await upload('text', identity, 'a.png');
      expect(refused).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
      expect(refused.body.error).toContain('text/plain');
      expect(refused.body.hint).toContain('"types"');
    }
    const { id } = await open(4, ada);
    expect((await send(id, 'text', ada)).status).toBe(415);
    expect((await open(0, ada)).status).toBe(415);
    for (const identity of [asOwner(), asKey()])
      expect((await upload('text', identity)).status).toBe(201);
    expect(await bed.blobs()).toHaveLength(await bed.count('files'));
  });

  it('is no larger than it says', async () => {
    storage = { maxBytes: 10 };
    expect((await upload('0123456789', ada)).status).toBe(201);
    const refused = await upload('0123456789a', anonymous());
    expect(refused).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    expect(refused.body.hint).toContain('"maxBytes"');
    expect((await open(11, ada)).status).toBe(413);
    expect((await upload('0123456789a', asOwner())).status).toBe(201);
  });

  it('is no more than a user may keep, exactly, however many come at once', async () => {
    storage = { perUser: 100 };
    const eve = asUser('018f0000-0000-7000-8000-0000000000e9');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => upload('x'.repeat(30), eve, `${n}.txt`)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    const refused = answers.find(({ status }) => status !== 201);
    expect(refused).toMatchObject({ status: 403, body: { code: 'storage_quota' } });
    expect(refused?.body.hint).toContain('"perUser"');
    expect((await upload('x'.repeat(10), eve)).status).toBe(201);
    expect((await upload('x', eve)).status).toBe(403);
    expect((await upload('x'.repeat(30), asUser(userB))).status).toBe(201);
    const [kept] = answers.filter(({ status }) => status === 201);
    await bed.call('DELETE', `/storage/files/${kept?.body.id}`, { identity: eve });
    expect((await upload('x'.repeat(30), eve)).status).toBe(201);
    expect((await upload('x'.repeat(300), asKey())).status).toBe(201);
  });

  it('is passed by the files of a merged guest, and then nothing more is taken', async () => {
    storage = { perUser: 100 };
    await bed.service.start();
    const [guest, user] = [0xeb, 0xec].map((n) =>
      asUser(`018f0000-0000-7000-8000-0000000000${n.toString(16)}`),
    ) as [Identity, Identity];
    for (const identity of [guest, user])
      expect((await upload('x'.repeat(90), identity)).status).toBe(201);
    const { id: projectId, number: projectNumber } = guest.project;
    const payload = { projectId, projectNumber, guestId: guest.userId, userId: user.userId };
    await bed.bus.publish({ id: String(guest.userId), topic: 'user.merged', payload });
    const { body } = await bed.call('GET', '/storage/files', { identity: user });
    expect(body.items).toHaveLength(2);
    expect((await upload('x', user)).status).toBe(403);
    for (const { id } of body.items)
      await bed.call('DELETE', `/storage/files/${id}`, { identity: user });
    expect((await upload('x', user)).status).toBe(201);
    await bed.service.stop();
  });

  it('is no more than a user may keep, in parts too', async () => {
    storage = { perUser: 100 };
    const identity = asUser('018f0000-0000-7000-8000-0000000000ea');
    expect((await open(101, identity)).status).toBe(403);
    const opened = await Promise.all([1, 2].map(() => open(60, identity)));
    const sent = await Promise.all(opened.map(({ id }) => send(id, 'x'.repeat(60), identity)));
    expect(sent.map(({ status }) => status).sort()).toEqual([204, 403]);
  });
});
