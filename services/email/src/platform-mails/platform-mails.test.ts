import { randomUUID } from 'node:crypto';
import { asOwner, testProject, until } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createMailCalls, createMailingBed, requested, token } from '../testing/platform-mails.ts';
import { createTestBed, type FakeMailer, ownerAddress, type TestBed } from '../testing/test-bed.ts';

describe('the platform’s own mails', () => {
  let mailer: FakeMailer;
  let bed: TestBed;
  beforeEach(async () => {
    ({ bed, mailer } = await createMailingBed());
  });
  afterEach(() => bed.close());

  const { sent, tell } = createMailCalls(() => ({ bed, mailer }));

  it('ask to confirm an address, with a link to the platform’s page, every value escaped', async () => {
    await tell('mail.requested', requested);
    const mail = await sent();
    expect(mail).toMatchObject({
      projectNumber: testProject.number,
      from: { name: `${requested.projectName} via Backlot`, address: 'no-reply@backlot.test' },
      to: ['ada@example.org'],
      subject: 'Confirm your e-mail address for <b>Ada’s & Bob’s</b>',
    });
    const link = `https://api.example.org/account#project=testproject&verify=${token}`;
    expect(mail.text).toContain(`Confirm e-mail address:\n${link}\n`);
    expect(mail.text).toContain('until 2026-11-22 at 05:00 UTC');
    expect(mail.html).toContain(`href="${link.replace('&', '&amp;')}"`);
    expect(mail.html).toContain('&lt;b&gt;Ada’s &amp; Bob’s&lt;/b&gt;');
    expect(mail.html).not.toMatch(/<script|<b>/);
  });

  it('bring a code that signs in, with a link that does the same', async () => {
    await tell('mail.requested', { ...requested, template: 'sign-in-code', code: '012345' });
    const { subject, text, html } = await sent();
    expect(subject).toBe('Your code to sign in at <b>Ada’s & Bob’s</b>');
    for (const part of [text, html]) expect(part).toContain('is 012345.');
    expect(text).toContain(
      `https://api.example.org/account#project=testproject&sign-in=${token}\n`,
    );
  });

  it('of a preview reach its owner alone; others are kept as not sent', async () => {
    bed.setProject({ preview: { of: 'liveproject1', tokenHash: 'x' } });
    const templates = ['verify-email', 'reset-password', 'group-invite'] as const;
    const changes = ['confirm-new-email', 'allow-email-change', 'sign-in-code'] as const;
    for (const template of [...templates, ...changes])
      await tell('mail.requested', {
        ...requested,
        template,
        group: { name: 'Red', invitedBy: 'Olga' },
        newEmail: 'new@example.org',
      });
    await tell('mail.requested', { ...requested, to: ownerAddress });
    expect((await sent()).to).toEqual([ownerAddress]);
    await until(async () => (await bed.list()).length === 7);
    const others = (await bed.list()).filter(({ to }) => to[0] !== ownerAddress);
    expect(others).toHaveLength(6);
    for (const other of others)
      expect(other).toMatchObject({
        to: ['ada@example.org'],
        status: 'failed',
        error: 'Not sent: a preview mails its owner alone.',
        html: '',
      });
  });

  it('lead to the platform’s page, whatever origins a project has named', async () => {
    bed.setProject({ settings: { allowedOrigins: ['https://shop.example', 'https://b.example'] } });
    await tell('mail.requested', { ...requested, template: 'reset-password', name: null });
    const mail = await sent();
    expect(mail.subject).toContain('Reset your password');
    expect(mail.text).toContain(
      `https://api.example.org/account#project=testproject&reset=${token}`,
    );
    expect(mail.text + mail.html).not.toContain('shop.example');
    expect(mail.text).toMatch(/^Hello,\n/);
  });

  it('lead to the app’s own page once its origin is verified, and no longer when it is not', async () => {
    const settings = { accountPageUrl: 'https://shop.example/account?lang=de' };
    const links: (string | undefined)[] = [];
    for (const verifiedOrigins of [
      undefined,
      ['https://b.example', 'https://shop.example:8443', 'http://shop.example'],
      ['https://b.example', 'https://shop.example'],
      [],
    ]) {
      bed.setProject({ settings, ...(verifiedOrigins && { verifiedOrigins }) });
      await tell('mail.requested', requested);
      links.push((await sent(links.length + 1)).text?.match(/^https:\S+/m)?.[0]);
    }
    const fragment = `#project=testproject&verify=${token}`;
    const ours = `https://api.example.org/account${fragment}`;
    expect(links).toEqual([ours, ours, `${settings.accountPageUrl}${fragment}`, ours]);
  });

  it('invite to a group, by the names of group and inviter', async () => {
    const invitation = { ...requested, name: null, template: 'group-invite' as const };
    const group = { name: '<i>Red team', invitedBy: 'Olga' };
    await tell('mail.requested', { ...invitation, group });
    const mail = await sent();
    expect(mail.subject).toBe('You are invited to join a group at <b>Ada’s & Bob’s</b>');
    expect(mail.text).toContain('Olga invites you to join a group that is called “<i>Red team” at');
    expect(mail.text).toContain(
      `https://api.example.org/account#project=testproject&join=${token}`,
    );
    expect(mail.html).not.toMatch(/<i>|<b>/);
  });

  describe('in the words of their owner', () => {
    const word = (name: string, words: object) =>
      bed.http.call('PUT', `/platform/projects/${testProject.id}/mail-templates/${name}`, {
        identity: asOwner(),
        body: words,
      });
    const words = {
      subject: '{{team}} awaits you at {{app}}',
      html: '<p>{{inviter}} asks you: <a href="{{link}}">join</a> by {{until}}.</p>',
      text: '{{inviter}}: {{link}}',
    };
    const invitation = {
      ...requested,
      projectName: 'Shop',
      name: null,
      template: 'group-invite' as const,
      group: { name: 'Red <i>team', invitedBy: 'http://evil.example' },
    };
    const link = `https://api.example.org/account#project=testproject&join=${token}`;

    it('say the app, the team and who invites, by no name that misleads', async () => {
      expect(await word('account.invite', words)).toMatchObject({ status: 200 });
      await tell('mail.requested', invitation);
      const mail = await sent();
      expect(mail).toMatchObject({
        from: { name: 'Shop via Backlot' },
        subject: 'Red <i>team awaits you at Shop',
        html: `<p>somebody asks you: <a href="${link.replace('&', '&amp;')}">join</a> by 2026-11-22 at 05:00 UTC.</p>`,
        text: `somebody: ${link}`,
      });
      await tell('mail.requested', requested);
      expect((await sent(2)).subject).toContain('Confirm your e-mail address');
    });

    it('stay the usual ones while the owner’s address is not verified, or they lead to where the app is no more', async () => {
      bed.setProject({ settings: { allowedOrigins: ['https://shop.example'] } });
      const leading = `${words.html}<a href="https://shop.example/">Shop</a>`;
      await word('account.invite', { ...words, html: leading });
      await tell('mail.requested', invitation);
      expect((await sent()).html).toContain('https://shop.example/');
      bed.setProject({ settings: {} });
      await tell('mail.requested', invitation);
      expect((await sent(2)).subject).toBe('You are invited to join a group at Shop');
      await word('account.invite', words);
      bed.owner.isVerified = false;
      await tell('mail.requested', invitation);
      const mail = await sent(3);
      expect(mail.subject).toBe('You are invited to join a group at Shop');
      expect(mail.text).toContain(link);
    });
  });

  it('ask both addresses for a change, and name the new one to the present one alone', async () => {
    const change = { ...requested, name: 'Ada' };
    await tell('mail.requested', { ...change, to: 'new@b.example', template: 'confirm-new-email' });
    const fresh = await sent();
    expect(fresh).toMatchObject({ to: ['new@b.example'] });
    const link = `https://api.example.org/account#project=testproject&change-email=${token}`;
    expect(fresh.text).toContain(`Confirm new address:\n${link}\n`);
    expect(fresh.text).not.toContain(requested.to);
    const newEmail = 'new@b.example';
    await tell('mail.requested', { ...change, template: 'allow-email-change', newEmail });
    const present = await sent(2);
    expect(present).toMatchObject({ to: [requested.to] });
    expect(present.text).toContain(`Allow the change:\n${link}\n`);
    expect(present.text).toContain('to new@b.example.');
    expect(present.text).toContain('do not follow the link');
  });

  it('invite so many times as other account mails are sent, and no more', async () => {
    const invitation = { ...requested, template: 'group-invite' as const };
    for (let n = 0; n < 12; n++) await tell('mail.requested', { ...invitation, token: `${n}` });
    await sent(10);
  });

  it('lead owners to the platform’s page, whatever the project `platform` has set', async () => {
    bed.setProject({
      id: 'platform',
      number: 1,
      ownerId: null,
      settings: { accountPageUrl: 'https://shop.example/account' },
      verifiedOrigins: ['https://shop.example'],
    });
    await tell('mail.requested', { ...requested, projectId: 'platform', projectNumber: 1 });
    expect((await sent()).text).toContain('https://api.example.org/account#project=platform&');
  });

  it('go out while the project, and its visitors, may not send', async () => {
    await bed.database.query('INSERT INTO sending_stops VALUES ($1, now())', [testProject.number]);
    await bed.database.query('INSERT INTO visitor_stops VALUES ($1, now())', [testProject.number]);
    const news = { to: ownerAddress, subject: 'News', html: '<p>News</p>' };
    const refused = await bed.send(news, { identity: asOwner() });
    expect(refused.body.code).toBe('sending_stopped');
    await tell('mail.requested', requested);
    expect((await sent()).to).toEqual([requested.to]);
    expect(await bed.list()).toMatchObject([{ status: 'sent' }]);
    await bed.database.query('DELETE FROM sending_stops');
    await bed.database.query('DELETE FROM visitor_stops');
  });

  it('go out once, however often their event comes, and cost nothing', async () => {
    const id = randomUUID();
    await Promise.all(Array.from({ length: 5 }, () => tell('mail.requested', requested, id)));
    await sent(1);
    await tell('mail.requested', requested, id);
    await sent(1);
    expect(await bed.takeUsage()).toEqual([]);
  });

  it('show nobody their link, and keep it no longer than needed', async () => {
    await tell('mail.requested', requested);
    await sent();
    const [mail] = await bed.list();
    expect(mail).toMatchObject({ status: 'sent', html: '' });
    const kept = await bed.database.query(
      "SELECT FROM mails WHERE html || coalesce(plain_text, '') LIKE $1",
      [`%${token}%`],
    );
    expect(kept).toEqual([]);
  });

  it('do not wait for those of projects', async () => {
    await bed.service.stop();
    const oneByOne = await createTestBed({ mailer, beside: bed, config: { concurrency: 1 } });
    bed.users.add('ada@example.org');
    await bed.send({ to: 'ada@example.org', subject: 'first', html: 'x' });
    await bed.database.query(
      `INSERT INTO mails (project_number, id, project_id, recipients, from_name, from_address, subject, html,
         next_attempt_at, created_at, is_own)
       SELECT project_number, gen_random_uuid(), project_id, recipients, from_name, from_address,
         CASE n WHEN 9 THEN 'own' ELSE 'more' END, html, next_attempt_at, created_at, n = 9
         FROM mails, generate_series(1, 9) AS n`,
    );
    await oneByOne.service.deliver();
    await oneByOne.close();
    expect(mailer.sent).toHaveLength(10);
    expect(mailer.sent.slice(0, 2).map(({ subject }) => subject)).toContain('own');
  });

  it('are erased with the verified address, in whatever spelling they name it', async () => {
    const email = 'ada@xn--bcher-kva.example';
    bed.users.add(email);
    for (const to of ['Ada@bücher.example', 'ADA@xn--bcher-kva.example'])
      await bed.send({ to, subject: 'x', html: 'x' });
    expect(await bed.list()).toHaveLength(2);
    const { id: projectId, number: projectNumber } = testProject;
    const erased = { projectId, projectNumber, userId: randomUUID(), email };
    await tell('user.erased', { ...erased, emailVerified: true });
    expect(await bed.list()).toEqual([]);
    bed.users.clear();
  });

  it('are erased with the verified address, or the project, that they are about', async () => {
    bed.users.add('ada@example.org').add('bob@example.org');
    const send = (to: string | string[]) =>
      bed.send({ to, subject: 'x', html: 'x' }, { identity: asOwner() });
    await send('bob@example.org');
    await send(['Ada@example.org', 'bob@example.org']);
    const answered = { to: 'bob@example.org', replyTo: 'ADA@example.org' };
    await bed.send({ ...answered, subject: 'x', html: 'x' });
    await tell('mail.requested', requested);
    const { id: projectId, number: projectNumber } = testProject;
    const erased = { projectId, projectNumber, userId: randomUUID(), email: 'ada@example.org' };
    await tell('user.erased', { ...erased, emailVerified: false });
    expect(await bed.list()).toHaveLength(4);
    await tell('user.erased', { ...erased, emailVerified: true });
    expect((await bed.list()).map(({ to }) => to)).toEqual([['bob@example.org']]);
    await tell('project.erased', { projectId: 'other', projectNumber: 77 });
    expect(await bed.list()).toHaveLength(1);
    await tell('project.erased', { projectId, projectNumber });
    expect(await bed.list()).toEqual([]);
  });
});
