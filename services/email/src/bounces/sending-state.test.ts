import { randomUUID } from 'node:crypto';
import { emailRoutes } from '@backlot/contract';
import { asOperator, asOwner, asUser, refusesStrangers, testProject } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { askedBounces, hashAddress } from '../mails/asked-mails.ts';
import {
  createSendgridBed,
  createSendgridCalls,
  event,
  visitor,
} from '../testing/sendgrid-events.ts';
import { type FakeMailer, ownerAddress, type TestBed } from '../testing/test-bed.ts';

describe('bounces', () => {
  let mailer: FakeMailer;
  let bed: TestBed;
  beforeEach(async () => {
    ({ bed, mailer } = await createSendgridBed());
  });
  afterEach(() => bed.close());

  const { send, sendMany, tell } = createSendgridCalls(() => ({ bed, mailer }));
  const sendingState = async (identity = asOwner()) => {
    const path = `/platform/projects/${testProject.id}/emails/sending`;
    return (await bed.call('GET', path, { identity })).body;
  };

  refusesStrangers(
    emailRoutes.resumeEmails,
    () => bed.http,
    () => ({ path: `/projects/${testProject.id}/emails/resume` }),
  );

  refusesStrangers(
    emailRoutes.getSendingState,
    () => bed.http,
    () => ({ path: `/projects/${testProject.id}/emails/sending` }),
  );
  it('stop a project past 5 % of bounces over 200 mails, once, and tell its owner', async () => {
    const few = await sendMany(199);
    await tell(few.slice(0, 100).map((mail) => event(mail)));
    expect((await send('fine@example.org')).status).toBe(200);
    await bed.service.deliver();
    mailer.sent.splice(0);
    const late = few.slice(100, 104).map((mail) => event(mail));
    await Promise.all(late.map((late) => tell([late])));
    expect(await send('fine@example.org')).toMatchObject({
      status: 403,
      body: { code: 'sending_stopped' },
    });
    await bed.service.deliver();
    expect(mailer.sent).toMatchObject([
      {
        to: [ownerAddress],
        subject: 'Test project may not send mail at the moment',
        text: expect.stringMatching(/10\d of 200 mails bounced/),
      },
    ]);
    expect((await send('fine@example.org', { ...testProject, number: 1002 })).status).toBe(200);

    bed.clock.pass(1000);
    const resumed = await bed.call('POST', `/platform/projects/${testProject.id}/emails/resume`, {
      identity: asOperator(),
    });
    expect(resumed.status).toBe(200);
    expect((await send('fine@example.org')).status).toBe(200);
    await tell(few.slice(104, 108).map((mail) => event(mail)));
    expect((await send('fine@example.org')).status).toBe(200);
  });

  it('hold back what the stopped project has queued, until it may send again', async () => {
    const mails = await sendMany(200);
    expect((await send('waiting@example.org')).status).toBe(200);
    mailer.sent.splice(0);
    await tell(mails.slice(0, 11).map((mail) => event(mail)));
    await bed.service.deliver();
    expect(mailer.sent).toMatchObject([{ to: [ownerAddress] }]);
    expect((await bed.list())[0]).toMatchObject({
      to: ['waiting@example.org'],
      status: 'queued',
      error: 'The project is stopped from sending.',
    });
    const stopped = { since: expect.any(String), reason: '11 of 200 mails bounced' };
    expect(await sendingState()).toEqual({ stopped, visitorsStopped: null, waiting: 1 });
    expect(await sendingState(asOwner({ project: { ...testProject, number: 1002 } }))).toEqual({
      stopped: null,
      visitorsStopped: null,
      waiting: 0,
    });
    await bed.call('POST', `/platform/projects/${testProject.id}/emails/resume`, {
      identity: asOperator(),
    });
    bed.clock.pass(60_000);
    await bed.service.deliver();
    expect(mailer.sent.at(-1)).toMatchObject({ to: ['waiting@example.org'] });
    expect(await sendingState()).toEqual({ stopped: null, visitorsStopped: null, waiting: 0 });
  });

  it('of mails that visitors send to others stop those alone', async () => {
    const mails = await sendMany(200, testProject, visitor());
    const waiting = await send('waiting@example.org', testProject, visitor());
    expect(waiting.status).toBe(200);
    await tell(mails.slice(0, 11).map((mail) => event(mail)));
    expect(await send('fine@example.org', testProject, visitor())).toMatchObject({
      status: 403,
      body: { code: 'sending_stopped' },
    });
    expect((await send('owner', testProject, visitor())).status).toBe(200);
    expect((await send('fine@example.org')).status).toBe(200);
    await bed.service.deliver();
    expect(mailer.sent.map(({ to, subject }) => [to[0], subject])).toEqual(
      expect.arrayContaining([
        [ownerAddress, 'Visitors of Test project may not mail others at the moment'],
        [ownerAddress, 'x'],
        ['fine@example.org', 'x'],
      ]),
    );
    expect(mailer.sent.map(({ to }) => to[0])).not.toContain('waiting@example.org');
    expect(await sendingState()).toMatchObject({
      stopped: null,
      visitorsStopped: { reason: '11 of 200 mails bounced' },
      waiting: 1,
    });
    bed.clock.pass(1000);
    await bed.call('POST', `/platform/projects/${testProject.id}/emails/resume`, {
      identity: asOperator(),
    });
    expect((await send('fine@example.org', testProject, visitor())).status).toBe(200);
    bed.clock.pass(60_000);
    await bed.service.deliver();
    expect(mailer.sent.map(({ to }) => to[0])).toContain('waiting@example.org');
  });

  it('of mails that people ask for to their own address count for their network address alone', async () => {
    await bed.service.start();
    const askFor = async (to: string, ip: string) => {
      await bed.bus.publish({
        id: randomUUID(),
        topic: 'mail.requested',
        payload: {
          projectId: testProject.id,
          projectNumber: testProject.number,
          projectName: 'Shop',
          ipHash: hashAddress(ip),
          to,
          name: null,
          template: 'verify-email',
          token: 'a-token',
          expiresAt: '2026-11-22T05:00:00.000Z',
        },
      });
      const { status, error } = (await bed.list())[0] ?? {};
      await bed.service.deliver();
      return [status, error];
    };
    for (let n = 0; n < askedBounces.address; n++) await askFor(`bad${n}@x.example`, '192.0.2.7');
    await tell(mailer.sent.splice(0).map((mail) => event(mail)));
    expect(await askFor('next@x.example', '192.0.2.7')).toEqual([
      'failed',
      'Not sent: too many mails that were asked for from there could not be delivered.',
    ]);
    expect((await askFor('next@x.example', '192.0.2.8'))[0]).not.toBe('failed');

    const template = { subject: 'x', html: 'x', to: 'caller' };
    const path = `/platform/projects/${testProject.id}/mail-templates/receipt`;
    await bed.http.call('PUT', path, { identity: asOwner(), body: template });
    const userId = randomUUID();
    bed.accounts.set(userId, { email: 'ada@example.org', name: null, emailVerified: true });
    const receipt = (ip: string) =>
      bed.send(
        { template: 'receipt' },
        { identity: asUser(userId, { ip, project: visitor().project }) },
      );
    expect(await receipt('192.0.2.7')).toMatchObject({
      status: 403,
      body: { code: 'sending_stopped' },
    });
    expect((await receipt('192.0.2.8')).status).toBe(200);
    expect(await bed.database.query('SELECT FROM sending_stops')).toEqual([]);
    bed.clock.pass(24 * 60 * 60_000);
    expect((await askFor('later@x.example', '192.0.2.7'))[0]).not.toBe('failed');
  });

  it('let a project go on at just 5 % of bounces, and stop it at a complaint in 200', async () => {
    const mails = await sendMany(200);
    await tell(mails.slice(0, 10).map((mail) => event(mail)));
    expect((await send('fine@example.org')).status).toBe(200);
    await tell(mails.slice(20, 21).map((mail) => event(mail, { event: 'spamreport' })));
    expect((await send('fine@example.org')).body.code).toBe('sending_stopped');
    expect(await bed.takeUsage()).toEqual([]);
  });
});
