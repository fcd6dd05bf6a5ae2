import { MIB } from '@backlot/contract';
import { asKey, asOwner, asUser, until } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createFakeMailer, createTestBed, reserved, type TestBed } from '../testing/test-bed.ts';

const id = (n: number) => `018f0000-0000-7000-8000-0000000000f${n}`;
const invoice = { name: 'invoice.pdf', type: 'application/pdf', content: Buffer.from('%PDF-1') };
const notes = { name: 'Nötes.txt', type: 'text/plain', content: Buffer.from('ä') };
const hello = { to: 'ada@example.org', subject: 'Hello', html: '<p>Hi</p>' };

describe('files that go along with a mail', () => {
  const mailer = createFakeMailer();
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ mailer });
    bed.users.add(hello.to);
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    bed.files.all = new Map([
      [id(1), invoice],
      [id(2), notes],
    ]);
    bed.files.hidden.clear();
    bed.files.isUnavailable = false;
    mailer.sent.length = 0;
    mailer.taken.length = 0;
    mailer.answer = async () => ({ status: 'sent', refused: [] });
    await bed.database.query('DELETE FROM mails');
    await bed.takeUsage();
  });
  const send = (attachments: unknown, options = {}) => bed.send({ ...hello, attachments }, options);

  it('are sent with it, each once, in the order given, and stand in the list of mails', async () => {
    expect((await send([id(2), id(1).toUpperCase(), id(2)])).status).toBe(200);
    const described = [
      { id: id(2), name: notes.name, type: notes.type, size: 2 },
      { id: id(1), name: invoice.name, type: invoice.type, size: 6 },
    ];
    expect(await bed.list()).toMatchObject([{ attachments: described, status: 'queued' }]);
    await bed.service.deliver();
    expect(mailer.sent).toMatchObject([{ attachments: [notes, invoice] }]);
    expect(await bed.list()).toMatchObject([{ attachments: described, status: 'sent' }]);
  });

  it('are asked for as whoever sends the mail', async () => {
    const group = { id: id(9), role: 'member' };
    const user = asUser('018f0000-0000-7000-8000-000000000001', { groups: [group] });
    for (const identity of [user, asOwner(), asKey(), reserved(null)]) {
      bed.files.readers.length = 0;
      expect((await send([id(1)], { identity })).status).toBe(200);
      const { caller, userId, ip, groups } = identity;
      const { id: projectId, number, ownerId } = identity.project;
      expect(bed.files.readers).toEqual([
        {
          project: { id: projectId, number, ownerId },
          caller,
          userId,
          ip,
          fileIds: [id(1)],
          ...(groups && { groups }),
        },
      ]);
    }
  });

  it('go along with each of the mails of a project that sends to known addresses alone', async () => {
    bed.users.add('bob@example.org');
    const to = [hello.to, 'stranger@example.org', 'bob@example.org'];
    expect((await bed.send({ ...hello, to, attachments: [id(1)] })).status).toBe(200);
    await bed.service.deliver();
    expect(
      mailer.sent.map(({ to: [address], attachments }) => [address, attachments[0]?.name]).sort(),
    ).toEqual([
      [hello.to, invoice.name],
      ['bob@example.org', invoice.name],
    ]);
    const refused = (await bed.list()).find(({ status }) => status === 'failed');
    expect(refused).not.toHaveProperty('attachments');
  });

  it.each([
    ['one that the caller may not read', [id(1), id(2)], id(2)],
    ['one that is not there', [id(1), id(3)], id(3)],
    ['an empty one', [id(4)], 'is empty'],
    ['more than 10 MB', [id(5), id(6)], '10 MB'],
    ['eleven', Array.from({ length: 11 }, () => id(1)), 'up to 10'],
    ['what is no id', [{ filename: 'a.txt', content: 'YQ==' }], 'POST /storage/upload'],
    ['no list', id(1), 'POST /storage/upload'],
  ])('are refused, with the mail: %s', async (_what, attachments, reason) => {
    bed.files.hidden.add(id(2));
    bed.files.all.set(id(4), { ...notes, content: Buffer.alloc(0) });
    bed.files.all.set(id(5), { ...notes, size: 10 * MIB - 1 });
    bed.files.all.set(id(6), { ...notes, size: 2 });
    const answer = await send(attachments);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_body']);
    expect(answer.body.error).toContain('"attachments');
    expect(JSON.stringify(answer.body)).toContain(reason);
    expect(await bed.list()).toEqual([]);
    expect(await bed.takeUsage()).toEqual([]);
  });

  it('may have 10 MB together', async () => {
    bed.files.all.set(id(5), { ...notes, size: 10 * MIB - 1 });
    bed.files.all.set(id(6), { ...notes, size: 1 });
    expect((await send([id(5), id(6)])).status).toBe(200);
    expect(await send([])).toMatchObject({ status: 200 });
  });

  it('are not promised while nobody can tell which there are', async () => {
    bed.files.isUnavailable = true;
    expect(await send([id(1)])).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(await bed.list()).toEqual([]);
  });

  it('end the mail with a reason where one was deleted before it went out', async () => {
    await send([id(1), id(2)]);
    bed.files.all.delete(id(2));
    await bed.service.deliver();
    expect(mailer.sent).toEqual([]);
    expect(await bed.list()).toMatchObject([
      { status: 'failed', error: 'The attached file "Nötes.txt" has been deleted.' },
    ]);
  });

  it('are tried again where they could not be read, before anything is handed over', async () => {
    await send([id(1)]);
    bed.files.isUnavailable = true;
    await bed.service.deliver();
    expect(await bed.list()).toMatchObject([
      { status: 'queued', error: 'The attached files can not be read at the moment.' },
    ]);
    bed.files.isUnavailable = false;
    bed.clock.pass(60_000);
    await bed.service.deliver();
    expect(mailer.sent).toMatchObject([{ attachments: [invoice] }]);
    expect(await bed.list()).toMatchObject([{ status: 'sent' }]);
  });

  it('keep mails without files waiting for nothing, however many are on their way', async () => {
    const held = Promise.withResolvers<void>();
    mailer.answer = async ({ attachments }) => {
      if (attachments.length > 0) await held.promise;
      return { status: 'sent', refused: [] };
    };
    const withFiles = () => mailer.taken.filter(({ attachments }) => attachments.length > 0);
    for (let n = 0; n < 30; n++) await send([id(1)]);
    const delivering = bed.service.deliver();
    await until(() => withFiles().length > 0);
    const subject = 'Reset your password';
    for (let n = 0; n < 3; n++) await bed.send({ ...hello, subject });
    void bed.service.deliver();
    await until(() => mailer.sent.filter((mail) => mail.subject === subject).length === 3);
    expect(withFiles().length).toBeLessThanOrEqual(2);
    held.resolve();
    await delivering;
    expect(mailer.sent).toHaveLength(33);
  });

  it('wait for each other, and for nothing else', async () => {
    for (let n = 0; n < 6; n++) await send([id(1)]);
    await bed.send(hello);
    await bed.service.deliver();
    expect(mailer.sent).toHaveLength(7);
    expect(mailer.sent.filter(({ attachments }) => attachments.length === 1)).toHaveLength(6);
  });
});
