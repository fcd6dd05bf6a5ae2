import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOperator, asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed, userA, userB } from '../../testing/test-bed.ts';
import { createLinks } from '../links.ts';

const red = '018f0000-0000-7000-8000-0000000000e1';
const inRed = [{ id: red, role: 'member' }];
const knownMs = 3000;
const week = 7 * 24 * 3600;

describe('a signed address', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  beforeEach(() => {
    bed.people.clear();
    bed.endedKeys.clear();
    become(userA, inRed);
    become(userB, inRed);
    bed.clock.pass(knownMs);
  });

  const become = (user: string, groups: typeof inRed | null, { isBlocked = false } = {}) =>
    bed.people.set(`${testProject.number}/${user}`, groups && { role: 'user', groups, isBlocked });
  const member = (user = userA) => asUser(user, { groups: inRed });
  const upload = async (identity: Identity, fields: object) =>
    (await bed.upload('secret', { identity, fields: { visibility: 'private', ...fields } })).body;
  const sign = async (id: string, identity: Identity): Promise<string> => {
    const path = `/storage/files/${id}/sign`;
    const { status, body } = await bed.call('POST', path, { identity, body: { expiresIn: week } });
    expect(status).toBe(200);
    return body.url;
  };
  const signed = async (identity: Identity, of = member()) =>
    sign((await upload(of, { groupId: red })).id, identity);
  const opens = async (url: string) => {
    const { status } = await bed.get(url);
    if (status !== 200) expect(status).toBe(403);
    return status === 200;
  };

  it('of a group’s file opens it for as long as its signer is in the group, the uploader too', async () => {
    const { id } = await upload(member(userB), { groupId: red });
    const [leaves, stays] = [await sign(id, member()), await sign(id, member(userB))];
    expect([await opens(leaves), await opens(stays)]).toEqual([true, true]);
    become(userA, []);
    bed.clock.pass(knownMs);
    expect([await opens(leaves), await opens(stays)]).toEqual([false, true]);
    become(userB, []);
    bed.clock.pass(knownMs);
    expect(await opens(stays)).toBe(false);
    // Whoever comes back has it again: the address says who signed it, not when.
    become(userA, inRed);
    bed.clock.pass(knownMs);
    expect(await opens(leaves)).toBe(true);
  });

  it('ends with the account of its signer', async () => {
    const url = await signed(member());
    expect(await opens(url)).toBe(true);
    become(userA, null);
    bed.clock.pass(knownMs);
    expect(await opens(url)).toBe(false);
  });

  it('opens nothing while its signer is blocked, a file of their own neither', async () => {
    const own = await upload(asUser(userA), {});
    const urls = [await signed(member()), await sign(own.id, asUser(userA))];
    const opened = () => Promise.all(urls.map(opens));
    expect(await opened()).toEqual([true, true]);
    become(userA, inRed, { isBlocked: true });
    bed.clock.pass(knownMs);
    expect(await opened()).toEqual([false, false]);
    become(userA, inRed);
    bed.clock.pass(knownMs);
    expect(await opened()).toEqual([true, true]);
  });

  it('ends with the secret key that has signed it, and with no other, of no other project', async () => {
    const [key, other] = ['c1', 'c2'].map((end) => `018f0000-0000-7000-8000-0000000000${end}`);
    const url = await signed(asKey({ keyId: String(key) }));
    expect(await opens(url)).toBe(true);
    for (const ended of [`${testProject.number}/${other}`, `${otherProject.number}/${key}`])
      bed.endedKeys.add(ended);
    bed.clock.pass(knownMs);
    expect(await opens(url)).toBe(true);
    bed.endedKeys.add(`${testProject.number}/${key}`);
    bed.clock.pass(knownMs);
    expect(await opens(url)).toBe(false);
  });

  it('is believed from another’s hand in no way: who signed it is signed', async () => {
    const url = await signed(member());
    const byB = url.replace(userA, userB);
    expect([await opens(byB), await opens(url.replace(/signer=[^&]*&/, ''))]).toEqual([
      false,
      false,
    ]);
    const byOwner = await signed(asOwner());
    expect(await opens(byOwner.replace('?', `?signer=user-${userA}&`))).toBe(false);
    expect((await bed.get(url, { identity: anonymous({ project: otherProject }) })).status).toBe(
      403,
    );
  });

  it('of the project’s owner and the operator asks nobody', async () => {
    const urls = [await signed(asOwner()), await signed(asOperator())];
    become(userA, null);
    const { times } = bed.signersAsked;
    for (const url of urls) expect(await opens(url)).toBe(true);
    expect(bed.signersAsked.times).toBe(times);
  });

  it('from before the update opens its file until its time is over', async () => {
    const { id, name } = await upload(member(), { groupId: red });
    const links = createLinks(
      { filesUrl: 'https://api.example.org', masterKeys: [Buffer.alloc(32, 1)] },
      bed.clock.now,
    );
    const address = { projectId: testProject.id, projectNumber: testProject.number };
    const expiresAt = new Date(bed.clock.now() + 60_000);
    const url = links.signed({ ...address, fileId: id, name }, expiresAt);
    expect(await opens(url)).toBe(true);
    bed.clock.pass(61_000);
    expect(await opens(url)).toBe(false);
  });

  it('asks once in three seconds, whoever opens it', async () => {
    const url = await signed(member());
    const { times } = bed.signersAsked;
    await Promise.all(Array.from({ length: 20 }, () => opens(url)));
    expect(await opens(url)).toBe(true);
    expect(bed.signersAsked.times).toBe(times + 1);
  });

  it('is 503 while nobody can tell, and never open', async () => {
    const url = await signed(member());
    bed.signersAsked.isUnavailable = true;
    const { status, headers } = await bed.get(url);
    expect([status, headers.get('retry-after')]).toEqual([503, '2']);
    bed.signersAsked.isUnavailable = false;
    expect(await opens(url)).toBe(true);
  });
});
