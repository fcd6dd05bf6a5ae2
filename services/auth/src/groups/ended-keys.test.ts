import { randomUUID } from 'node:crypto';
import { events } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { asKey, asOwner, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, dayMs, otherProject, type TestBed } from '../testing/test-bed.ts';

const newKey = () => asKey({ keyId: randomUUID() });

describe('invitations that were mailed with a secret key', () => {
  let bed: TestBed;
  /** Of mails that were sent, by address. */
  const tokens = new Map<string, string>();
  beforeAll(async () => {
    bed = await createTestBed({ limits: { invitesPerIp: { max: 1000, windowMs: 1000 } } });
    await bed.bus.subscribe({
      queue: 'email.mail-requested',
      topics: ['mail.requested'],
      handler: async ({ payload }) => {
        const { to, token } = events['mail.requested'].parse(payload);
        tokens.set(to, token);
      },
    });
    await bed.service.start();
  });
  afterAll(() => bed.close());

  const team = async (): Promise<string> => {
    const { body } = await bed.call('POST', '/groups', {
      identity: asOwner(),
      body: { name: 'Red team' },
    });
    return body.id;
  };
  const invite = (group: string, identity: Identity, email: string, role = 'member') =>
    bed.call('POST', `/groups/${group}/invites`, { identity, body: { email, role } });
  const mail = async (group: string, identity: Identity, role?: string): Promise<string> => {
    const email = `${randomUUID()}@example.org`;
    expect((await invite(group, identity, email, role)).status).toBe(201);
    await until(() => tokens.has(email), { what: 'the mail' });
    return String(tokens.get(email));
  };
  const join = async (token: string) => {
    const { identity } = await bed.signUp();
    return (await bed.call('POST', '/groups/join', { identity, body: { token } })).status;
  };
  const listed = async (group: string) =>
    (await bed.call('GET', `/groups/${group}/invites`, { identity: asOwner() })).body.items.length;
  const revoke = async ({ keyId }: Identity, project: Identity['project'] = testProject) => {
    const { id: projectId, number: projectNumber } = project;
    const payload = { projectId, projectNumber, keyHash: '-', keyId: String(keyId) };
    await bed.bus.publish({ id: randomUUID(), topic: 'key.revoked', payload });
    const ended = 'SELECT FROM ended_keys WHERE project_number = $1 AND key_id = $2';
    const isKnown = async () =>
      (await bed.database.query(ended, [projectNumber, keyId])).length > 0;
    await until(isKnown, { what: 'a key that is known to have ended' });
  };

  it('end when it is revoked, and those of others do not', async () => {
    const [group, key, other] = [await team(), newKey(), newKey()];
    const ended = [await mail(group, key), await mail(group, key, 'owner')];
    const kept = [await mail(group, other), await mail(group, asOwner())];
    await revoke(key, otherProject);
    expect(await listed(group)).toBe(4);
    await revoke(key);
    expect(await listed(group)).toBe(2);
    for (const token of ended) expect(await join(token)).toBe(400);
    for (const token of kept) expect(await join(token)).toBe(200);
  });

  it('are none, where it is revoked while a call with it is under way', async () => {
    for (let round = 0; round < 6; round++) {
      const [group, key] = [await team(), newKey()];
      const emails = Array.from({ length: 3 }, () => `${randomUUID()}@example.org`);
      const [, ...answers] = await Promise.all([
        revoke(key),
        ...emails.map((email) => invite(group, key, email, 'owner')),
      ]);
      expect(await listed(group)).toBe(0);
      for (const [n, { status }] of answers.entries()) {
        expect([201, 401]).toContain(status);
        const email = emails[n] ?? '';
        if (status === 401) continue;
        await until(() => tokens.has(email), { what: 'the mail' });
        expect(await join(String(tokens.get(email)))).toBe(400);
      }
      expect((await invite(group, key, `${randomUUID()}@example.org`)).status).toBe(401);
    }
  });

  it('stay ended for as long as one could be good', async () => {
    const [group, key] = [await team(), newKey()];
    await revoke(key);
    bed.clock.pass(7 * dayMs);
    const process = bed.another();
    await process.start();
    await process.stop();
    expect((await invite(group, key, 'late@example.org')).status).toBe(401);
  });

  it('that an older version does not name ends nothing', async () => {
    const [group, key] = [await team(), newKey()];
    const token = await mail(group, key);
    const payload = { projectId: testProject.id, keyHash: '-' };
    await bed.bus.publish({ id: randomUUID(), topic: 'key.revoked', payload });
    await revoke(newKey());
    expect(await join(token)).toBe(200);
  });
});
