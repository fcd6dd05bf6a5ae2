import { randomUUID } from 'node:crypto';
import { internalIdentity } from '@backlot/identity';
import { anonymous } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { projectsConfig } from './config.ts';
import { creditHistory, deliver, grant, kindsAndAmounts, usageEvent } from './testing/ledger.ts';
import { createTestBed, dayMs, type TestBed } from './testing/test-bed.ts';

describe('an owner whose e-mail address is not verified', () => {
  let bed: TestBed;
  let ownerId: string;
  beforeAll(async () => {
    bed = await createTestBed({ isOwnerVerificationOn: true, monthlyCredits: 1000 });
    await bed.service.start();
  });
  afterAll(async () => {
    await bed.service.stop();
    await bed.close();
  });
  beforeEach(() => {
    ownerId = randomUUID();
    bed.owners.unverified.add(ownerId);
  });

  const load = () => bed.service.loadOwner(ownerId);
  const verify = () => bed.owners.unverified.delete(ownerId);
  const history = async () => kindsAndAmounts((await creditHistory(bed, ownerId)).items);

  it('has 20 credits, once, in all months', async () => {
    await Promise.all(Array.from({ length: 8 }, load));
    expect(await load()).toMatchObject({ balanceMillicredits: 20_000 });
    await deliver(bed, usageEvent(bed, ownerId, { millicredits: 15_000 }));
    bed.pass(40 * dayMs);
    await bed.service.maintain();
    expect(await load()).toMatchObject({ balanceMillicredits: 5000 });
    expect(await history()).toEqual([
      ['grant', 20_000],
      ['debit', -15_000],
    ]);
  });

  it('gets the credits of the month as soon as they have verified it', async () => {
    await load();
    verify();
    await bed.publish({ id: randomUUID(), topic: 'owner.verified', payload: { ownerId } });
    expect(
      await bed.database.query('SELECT balance_millicredits FROM accounts WHERE owner_id = $1', [
        ownerId,
      ]),
    ).toEqual([{ balance_millicredits: 1_020_000 }]);
    expect(await history()).toEqual([
      ['grant', 20_000],
      ['grant', 1_000_000],
    ]);
  });

  it('gets them at the next look where no event came, and none of a trial later', async () => {
    verify();
    expect(await load()).toMatchObject({ balanceMillicredits: 1_000_000 });
    bed.owners.unverified.add(ownerId);
    bed.pass(40 * dayMs);
    expect(await load()).toMatchObject({ balanceMillicredits: 1_000_000 });
  });

  it('keeps what the operator grants beside the trial', async () => {
    await grant(bed, ownerId, 50);
    expect(await history()).toEqual([
      ['grant', 20_000],
      ['grant', 50_000],
    ]);
  });

  it('has 3 projects at most, also by parallel calls, and the normal number afterwards', async () => {
    const identity = await bed.owner(ownerId);
    const create = () =>
      bed.call('POST', '/platform/projects', { identity, body: { name: 'Mine' } });
    const answers = await Promise.all(Array.from({ length: 8 }, create));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    const refused = answers.find(({ status }) => status !== 201);
    expect(refused?.body).toMatchObject({ code: 'project_limit' });
    expect(refused?.body.error).toContain('verified');
    verify();
    expect((await create()).status).toBe(201);
  });

  it('is not verified for other services either, who ask over HTTP', async () => {
    const ask = async (id: string, identity = internalIdentity) =>
      (await bed.call('GET', `/internal/owners/${id}`, { identity })).body;
    expect(await ask(ownerId)).toEqual({ verified: false });
    expect(await bed.service.directories.owners.isVerified(ownerId)).toBe(false);
    expect(await ask('nonsense')).toEqual({ verified: false });
    verify();
    expect(await ask(ownerId)).toEqual({ verified: true });
    expect(await ask(ownerId, anonymous())).toMatchObject({ code: 'unauthenticated' });
  });

  it('gets nothing while auth does not answer, rather than everything', async () => {
    bed.owners.areUnavailable = true;
    await expect(load()).rejects.toMatchObject({ code: 'unavailable' });
    bed.owners.areUnavailable = false;
    expect(await load()).toMatchObject({ balanceMillicredits: 20_000 });
  });
});

describe('an owner', () => {
  // Not started: nothing else has a transaction.
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ isOwnerVerificationOn: true });
  });
  afterAll(() => bed.close());

  it('is looked up while no transaction is open, with an Idempotency-Key too', async () => {
    const open: number[] = [];
    bed.owners.onLookUp = async () => {
      const rows = await bed.database.detached(() =>
        bed.database.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database()
             AND pid <> pg_backend_pid() AND xact_start IS NOT NULL AND backend_type = 'client backend'`,
        ),
      );
      open.push(rows.length);
    };
    const ownerId = randomUUID();
    const headers = { 'idempotency-key': 'once' };
    const project = { identity: await bed.owner(ownerId), headers, body: { name: 'Mine' } };
    const body = { ownerId, credits: 5, reason: 'Sorry' };
    const grantOfOperator = { identity: await bed.operator(), headers, body };
    for (let n = 0; n < 2; n++) {
      expect((await bed.call('POST', '/platform/projects', project)).status).toBe(201);
      const granted = await bed.call('POST', '/platform/credits/grants', grantOfOperator);
      expect(granted.status).toBe(201);
    }
    expect(open).toEqual([0, 0, 0]);
    const rows = await bed.database.query('SELECT FROM projects WHERE owner_id = $1', [ownerId]);
    expect(rows).toHaveLength(1);
  });
});

describe('verification of owners', () => {
  const isOn = (env: Record<string, string>) =>
    projectsConfig.read({
      BACKLOT_PUBLIC_URL: 'https://backlot.example',
      BACKLOT_SECRETS_KEYS: Buffer.alloc(32, 1).toString('base64'),
      ...env,
    }).isOwnerVerificationOn;

  it('is on with a real mailer, off with the dev mailbox, unless somebody has said', () => {
    expect(isOn({})).toBe(false);
    expect(isOn({ BACKLOT_MAILER: 'dev-mailbox' })).toBe(false);
    expect(isOn({ BACKLOT_MAILER: 'smtp' })).toBe(true);
    expect(isOn({ BACKLOT_MAILER: 'smtp', BACKLOT_OWNER_VERIFICATION: 'off' })).toBe(false);
    expect(isOn({ BACKLOT_OWNER_VERIFICATION: 'on' })).toBe(true);
  });
});
