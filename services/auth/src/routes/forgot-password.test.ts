import { authRoutes } from '@backlot/contract';
import { anonymous, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, hourMs, otherProject, type TestBed } from '../testing/test-bed.ts';

describe('forgotPassword', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ limits: { forgotPerIp: { max: 20, windowMs: hourMs } } });
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.forgotPassword,
    () => bed.http,
    () => ({
      path: '/auth/forgot',
      body: { email: 'a@example.org' },
    }),
  );

  let address = 0;
  const forgot = (email: unknown, ip = `203.0.113.${++address}`, project = testProject) =>
    bed.call('POST', '/auth/forgot', { identity: anonymous({ ip, project }), body: { email } });

  it('mails a link that holds for an hour', async () => {
    const person = await bed.signUp({ name: 'Ada' });
    await bed.takeEvents();
    expect(await forgot(` ${person.email.toUpperCase()}`)).toMatchObject({
      status: 200,
      body: { ok: true },
    });
    expect(await bed.takeEvents()).toEqual([
      {
        topic: 'mail.requested',
        payload: {
          projectId: testProject.id,
          projectNumber: testProject.number,
          projectName: testProject.name,
          ipHash: expect.stringMatching(/^[0-9a-f]{64}$/),
          to: person.email,
          name: null,
          template: 'reset-password',
          token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
          expiresAt: new Date(bed.clock.now() + hourMs).toISOString(),
        },
      },
    ]);
  });

  it('answers the same for an address that nobody has, here or anywhere, and mails nothing', async () => {
    const person = await bed.signUp();
    const known = await forgot(person.email);
    await bed.takeEvents();
    const unknown = await forgot('nobody@example.org');
    const elsewhere = await forgot(person.email, undefined, otherProject as typeof testProject);
    expect(unknown).toMatchObject({ status: known.status, body: known.body });
    expect(elsewhere).toMatchObject({ status: known.status, body: known.body });
    expect(await bed.takeEvents()).toEqual([]);
  });

  it('mails one address five times an hour, then silently no more', async () => {
    const { email } = await bed.signUp();
    await bed.takeEvents();
    const answers = await Promise.all(Array.from({ length: 12 }, () => forgot(email)));
    expect(answers.every(({ status, body }) => status === 200 && body.ok)).toBe(true);
    expect(await bed.takeEvents()).toHaveLength(5);
    bed.clock.pass(hourMs);
    await forgot(email);
    expect(await bed.takeEvents()).toHaveLength(1);
  });

  it('refuses an IP that asks for ever more addresses', async () => {
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, n) => forgot(`guess${n}@example.org`, '198.51.100.9')),
    );
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(5);
    const refused = answers.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get('retry-after'))).toBe(3600);
  });

  it.each([[undefined], [['a@example.org']], ['nobody'], ['a\0@example.org'], ['ü@example.org']])(
    'refuses the address %j',
    async (email) => {
      const answer = await forgot(email);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
      expect(answer.body.error).toContain('"email"');
    },
  );
});
