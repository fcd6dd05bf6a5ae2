import { randomUUID } from 'node:crypto';
import type { Payload, Topic } from '@backlot/contract';
import { anonymous, asOwner, testProject, until } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createFakeMailer,
  createTestBed,
  type FakeMailer,
  ownerAddress,
  type TestBed,
} from '../testing/test-bed.ts';

const token = 'a-token_that-opens';
const requested: Payload<'mail.requested'> = {
  projectId: testProject.id,
  projectNumber: testProject.number,
  projectName: '<b>Ada’s & Bob’s</b>',
  to: 'ada@example.org',
  name: '"><script>alert(1)</script>',
  template: 'verify-email',
  token,
  expiresAt: '2026-11-22T05:00:00.000Z',
};

describe('the platform’s own mails', () => {
  let mailer: FakeMailer;
  let bed: TestBed;
  beforeEach(async () => {
    mailer = createFakeMailer();
    bed = await createTestBed({ mailer, config: { publicUrl: 'https://api.example.org' } });
    await bed.service.start();
  });
  afterEach(() => bed.close());

  const tell = <T extends Topic>(topic: T, payload: Payload<T>, id: string = randomUUID()) =>
    bed.bus.publish({ id, topic, payload });
  const sent = async (count = 1) => {
    await until(() => mailer.sent.length >= count);
    await bed.service.deliver();
    expect(mailer.sent).toHaveLength(count);
    const last = mailer.sent.at(-1);
    if (!last) throw new Error('nothing was sent');
    return last;
  };

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
    expect(mail.subject).toBe('Join <i>Red team at <b>Ada’s & Bob’s</b>');
    expect(mail.text).toContain('Olga invites you to join');
    expect(mail.text).toContain(
      `https://api.example.org/account#project=testproject&join=${token}`,
    );
    expect(mail.html).not.toMatch(/<i>|<b>/);
  });

  it.each([
    { name: 'Win at evil.example', invitedBy: 'http://evil.example' },
    { name: 'Win at evil。example', invitedBy: 'www evil' },
    { name: 'РаyРаl', invitedBy: 'Backlot support' },
  ])('invite by no name that misleads: %j', async (group) => {
    await tell('mail.requested', { ...requested, name: null, template: 'group-invite', group });
    const { subject, text = '', html } = await sent();
    for (const name of Object.values(group)) expect(subject + text + html).not.toContain(name);
    expect(text).toContain('somebody invites you to join a group at');
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

  it.each([
    ['http://evil.example/prize', 'Hello,'],
    ['You have won. See evil.example', 'Hello,'],
    ['Write to me@evil.example', 'Hello,'],
    ['РаyРаl', 'Hello,'],
    ['customer of Backlot, your account is closed', 'Hello,'],
    ['Dr. Ada D’Arcy-López', 'Hello Dr. Ada D’Arcy-López,'],
  ])('greet nobody by a name that misleads, which a stranger gave: %s', async (name, greeting) => {
    await tell('mail.requested', { ...requested, name });
    const mail = await sent();
    expect(mail.text?.split('\n')[0]).toBe(greeting);
    expect(mail.html).not.toContain('evil.example');
  });

  it('and those of projects keep to one line and one direction, whatever a stored name holds', async () => {
    const projectName = '\u202eShop\r\nBcc: eve\u0085\u2066';
    const name = 'Ada\u2029\u200fLovelace\n';
    for (const template of ['verify-email', 'reset-password'] as const)
      await tell('mail.requested', { ...requested, projectName, name, template });
    await sent(2);
    const project = { ...testProject, name: projectName, settings: { emailRecipients: 'anyone' } };
    await bed.send(
      { to: 'ada@example.org', subject: 'x', html: 'x' },
      { identity: anonymous({ project }) },
    );
    await sent(3);
    for (const mail of mailer.sent) {
      expect(mail.from.name).toMatch(/^Shop Bcc: eve( via Backlot)?$/);
      const shown = [mail.subject, ...(mail.text ?? '').split('\n'), ...mail.html.split('\n')];
      expect(shown.filter((line) => /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(line))).toEqual(
        [],
      );
    }
    expect(mailer.sent.map(({ text }) => text?.split('\n')[0])).toEqual(
      expect.arrayContaining(['Hello Ada Lovelace,']),
    );
    for (const { from } of await bed.list())
      expect(from).toMatch(/^"Shop Bcc: eve( via Backlot)?" <no-reply@backlot\.test>$/);
  });

  it('show the project’s id where its name is a text with an address', async () => {
    const projectName = 'PayPal. Your account is limited: sign in at evil.example';
    await tell('mail.requested', { ...requested, projectName });
    const project = { ...testProject, name: projectName, settings: { emailRecipients: 'anyone' } };
    const to = { to: 'ada@example.org', subject: 'x', html: 'x' };
    await bed.send(to, { identity: anonymous({ project }) });
    await sent(2);
    expect(mailer.sent.map(({ from }) => from.name).sort()).toEqual([
      'Project testproject',
      'Project testproject via Backlot',
    ]);
    for (const { subject, html, text } of mailer.sent)
      expect(subject + html + text).not.toMatch(/PayPal|evil/);
  });

  const askMany = (count: number, changes: (n: number) => Partial<typeof requested>) =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        tell('mail.requested', { ...requested, ...changes(n) }),
      ),
    );
  const people = (n: number) => ({ to: `p${n}@example.org` });

  it('go to one recipient ten times an hour, whatever the project, in parallel too', async () => {
    const elsewhere = (n: number) => ({ projectId: `p${n % 4}`, projectNumber: 2000 + (n % 4) });
    await askMany(15, (n) => ({ ...elsewhere(n), to: n % 2 ? 'Ada@example.org' : requested.to }));
    await sent(10);
    await tell('mail.requested', { ...requested, to: 'bob@example.org' });
    await sent(11);
    bed.clock.pass(60 * 60_000);
    await tell('mail.requested', requested);
    await sent(12);
  });

  it('never keep a new password from a verified user', async () => {
    await askMany(12, () => ({}));
    await sent(10);
    bed.users.add(requested.to);
    await tell('mail.requested', { ...requested, template: 'reset-password' });
    await sent(11);
  });

  it('are sixty an hour for one network address; the owner sees that no more were sent', async () => {
    const ipHash = 'ab'.repeat(32);
    await askMany(63, (n) => ({ ...people(n), ipHash }));
    await sent(60);
    const refused = (await bed.list('?limit=100')).filter(({ status }) => status === 'failed');
    expect(refused).toHaveLength(3);
    expect(refused[0]).toMatchObject({
      html: '',
      error: 'Not sent: too many account mails were asked for.',
    });
    await tell('mail.requested', { ...requested, ipHash: 'cd'.repeat(32) });
    await sent(61);
  });

  it('are three hundred an hour for one owner, from however many addresses', async () => {
    await bed.database.query(
      `INSERT INTO window_counts SELECT sha256(convert_to($1, 'UTF8')), to_timestamp($2), 298`,
      [
        `3600000 account mails of owner ${testProject.ownerId}`,
        (Math.floor(bed.clock.now() / 3_600_000) + 1) * 3600,
      ],
    );
    await askMany(5, (n) => ({ ...people(n), ipHash: String(n).repeat(64) }));
    await sent(2);
    await tell('mail.requested', { ...requested, projectId: 'other', projectNumber: 2001 });
    await sent(3);
  });

  it('wait while the project may not send', async () => {
    await bed.database.query('INSERT INTO sending_stops VALUES ($1, now())', [testProject.number]);
    await tell('mail.requested', requested);
    await bed.service.deliver();
    expect(mailer.sent).toEqual([]);
    await bed.database.query('DELETE FROM sending_stops');
    bed.clock.pass(60_000);
    await sent();
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

  it('tell an owner what is left of the month', async () => {
    const ownerId = testProject.ownerId;
    for (const [percent, balanceMillicredits] of [
      [80, 200_500],
      [95, 50_000],
      [100, -10],
    ] as const)
      await tell('credits.low', { ownerId, percent, balanceMillicredits });
    await sent(3);
    const said = mailer.sent.map(({ subject, text }) => `${subject}: ${text}`).sort();
    expect(said[0]).toMatch(/^80 % of your credits .*Hello Olga.* 200 are left/s);
    expect(said[1]).toMatch(/^95 % .* 50 are left/s);
    expect(said[2]).toMatch(/^Your credits of this month are used up.* 0 are left/s);
    expect(
      mailer.sent.every(({ to, projectId }) => to[0] === ownerAddress && projectId === 'platform'),
    ).toBe(true);
    // Nobody to tell.
    await tell('credits.low', { ownerId: randomUUID(), percent: 80, balanceMillicredits: 1 });
    await sent(3);
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

  it('tell an owner who met a budget, where, and which settings to change', async () => {
    const { id: projectId, number: projectNumber, ownerId } = testProject;
    const budget = { projectId, projectNumber, ownerId, projectName: '<i>Shop</i>' };
    const met = { ...budget, address: '2001:db8::/64', route: 'POST /ai' };
    const once = randomUUID();
    for (let n = 0; n < 2; n++) await tell('budget.reached', { ...met, kind: 'visitors' }, once);
    const mail = await sent();
    expect(mail).toMatchObject({ to: [ownerAddress], projectId: 'platform' });
    for (const said of ['Olga', '<i>Shop</i>', '2001:db8::/64', 'POST /ai', '"callers"'])
      expect(mail.text).toContain(said);
    expect(mail.text).toContain('"visitorCreditsPerDay"');
    expect(mail.html).not.toContain('<i>');
    await tell('budget.reached', { ...met, kind: 'project' });
    expect((await sent(2)).text).toContain('"creditsPerMonth"');
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
