import { anonymous, asKey, asOwner, testProject } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createFakeMailer, createTestBed, ownerAddress, type TestBed } from './test-bed.ts';

describe('to whom a project may send', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ mailer: createFakeMailer() });
    bed.users.add('user@example.org').add('jösé@example.org');
    bed.setProject({ settings: { emailAllowList: ['listed@example.org'] } });
  });
  afterAll(() => bed.close());
  beforeEach(() => bed.database.query('DELETE FROM mails'));

  const send = (to: string | string[], identity = anonymous()) =>
    bed.send({ to, subject: 'x', html: 'x' }, { identity });

  it('is its users, its owner and those listed, in any case, where mails reach people', async () => {
    for (const identity of [anonymous(), asOwner(), asKey()]) {
      for (const to of ['User@Example.org', 'JÖSÉ@example.org', ownerAddress, 'LISTED@example.org'])
        expect([to, (await send(to, identity)).status]).toEqual([to, 200]);
      expect(await send('stranger@example.org', identity)).toMatchObject({
        status: 403,
        body: { code: 'recipient_not_allowed' },
      });
    }
  });

  it('names the three strangers among ten, and sends to nobody', async () => {
    const strangers = ['a@x.example', 'b@x.example', 'c@x.example'];
    const known = ['user@example.org', 'listed@example.org', ownerAddress, 'jösé@example.org'];
    const answer = await send([...known, ...strangers]);
    expect(answer.body.error).toBe(`This project may not send to ${strangers.join(', ')}.`);
    expect(await bed.list()).toEqual([]);
  });

  it('is what the project has set', async () => {
    const withPolicy = (emailRecipients: string) =>
      anonymous({ project: { ...testProject, settings: { emailRecipients } } });
    expect((await send('stranger@example.org', withPolicy('anyone'))).status).toBe(200);
    const local = await createTestBed();
    const to = { to: 'stranger@example.org', subject: 'x', html: 'x' };
    expect((await local.send(to, { identity: anonymous() })).status).toBe(200);
    expect((await local.send(to, { identity: withPolicy('known') })).status).toBe(403);
    await local.close();
  });
});
