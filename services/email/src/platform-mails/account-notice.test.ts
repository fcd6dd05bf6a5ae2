import { randomUUID } from 'node:crypto';
import { noticeKinds, type Payload } from '@backlot/contract';
import { asOwner, testProject, until } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createFakeMailer,
  createTestBed,
  type FakeMailer,
  ownerAddress,
  type TestBed,
} from '../testing/test-bed.ts';

const notice: Payload<'notice.requested'> = {
  projectId: testProject.id,
  projectNumber: testProject.number,
  projectName: 'Shop',
  to: 'ada@example.org',
  name: 'Ada',
  kind: 'new-device',
  detail: null,
  device: 'Firefox on Windows',
  network: '192.0.2.0/24',
  at: '2026-11-22T05:00:00.000Z',
};

describe('notices of accounts', () => {
  let mailer: FakeMailer;
  let bed: TestBed;
  beforeEach(async () => {
    mailer = createFakeMailer();
    bed = await createTestBed({ mailer });
    await bed.service.start();
  });
  afterEach(() => bed.close());

  const tell = (changes: Partial<typeof notice> = {}, id = randomUUID()) =>
    bed.bus.publish({ id, topic: 'notice.requested', payload: { ...notice, ...changes } });
  const sent = async (count: number) => {
    await until(() => mailer.sent.length >= count);
    await bed.service.deliver();
    expect(mailer.sent).toHaveLength(count);
    return mailer.sent;
  };

  it('say what happened, when and where, every value escaped, once each', async () => {
    const id = randomUUID();
    await tell({ kind: 'passkey-added', detail: '<b>phone', device: '<i>' }, id);
    await tell({ kind: 'passkey-added', detail: '<b>phone', device: '<i>' }, id);
    for (const kind of noticeKinds.filter((kind) => kind !== 'passkey-added')) await tell({ kind });
    const mails = await sent(noticeKinds.length);
    expect(new Set(mails.map(({ subject }) => subject)).size).toBe(noticeKinds.length);
    const added = mails.find(({ subject }) => subject === 'A passkey was added: Shop');
    expect(added?.text).toContain('a passkey (<b>phone) was added to your account at Shop.');
    expect(added?.text).toContain('2026-11-22 at 05:00 UTC, <i>, network 192.0.2.0/24');
    expect(added?.html).not.toMatch(/<b>|<i>/);
    expect(added?.to).toEqual(['ada@example.org']);
  });

  it('are worded by the owner, without a link', async () => {
    const words = {
      subject: 'Neues Gerät',
      html: '<p>{{device}}, {{network}}, {{at}} {{detail}}</p>',
    };
    const path = `/platform/projects/${testProject.id}/mail-templates/account.new-device`;
    const put = await bed.http.call('PUT', path, { identity: asOwner(), body: words });
    expect(put.status).toBe(200);
    await tell();
    const [mail] = await sent(1);
    expect(mail).toMatchObject({
      subject: 'Neues Gerät',
      html: '<p>Firefox on Windows, 192.0.2.0/24, 2026-11-22 at 05:00 UTC </p>',
    });
  });

  it('go to one address ten times an hour, and leave links as many as ever', async () => {
    for (let n = 0; n < 14; n++) await tell();
    await tell({ to: 'bob@example.org' });
    await until(() => mailer.sent.some(({ to }) => to[0] === 'bob@example.org'));
    await bed.service.deliver();
    expect(mailer.sent.filter(({ to }) => to[0] === 'ada@example.org')).toHaveLength(10);
    const { at, kind, detail, device, network, ...asked } = notice;
    await bed.bus.publish({
      id: randomUUID(),
      topic: 'mail.requested',
      payload: { ...asked, template: 'reset-password', token: 'x', expiresAt: at },
    });
    await until(() => mailer.sent.some(({ subject }) => subject.startsWith('Reset')));
  });

  it('of a preview go to nobody but its owner', async () => {
    bed.setProject({ preview: { of: 'liveproject1', tokenHash: 'x' } });
    await tell();
    await tell({ to: ownerAddress });
    expect((await sent(1))[0]?.to).toEqual([ownerAddress]);
  });
});
