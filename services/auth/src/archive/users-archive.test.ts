import type { ArchiveDirectory, ArchiveKind } from '@backlot/contract';
import { anonymous, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAuthenticator } from '../testing/authenticator.ts';
import { setUpApp } from '../testing/authenticator-app.ts';
import { createTestBed, goodPassword, otherProject, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
let part: ArchiveDirectory;
beforeAll(async () => {
  bed = await createTestBed();
  part = bed.service.directories.usersArchive;
});
afterAll(() => bed.close());

let number = 5000;
const newProject = () => {
  number += 1;
  return { ...otherProject, id: `p${number}`, number };
};
type Project = ReturnType<typeof newProject>;
const readAll = async (project: Project, kind: ArchiveKind, hasPasswords = false) => {
  let text = '';
  let after: string | null = null;
  do {
    const read = await part.readLines({ project, kind, ip: '', after, hasPasswords });
    text += read.text;
    after = read.next;
  } while (after !== null);
  return text;
};
const take = (project: Project, kind: ArchiveKind, text: string) =>
  part.takeLines({ project, kind, ip: '', text });

/** But for what differs by project. */
const withoutProofs = (text: string) => text.replaceAll(/"verifiedBy":"[^"]*"/g, '');

const former = { ...testProject, id: 'former', number: 4999 };
const setUp = async () => {
  const ute = await bed.signUp({ project: former, email: 'ute@example.org', name: 'Ute' });
  const uwe = await bed.signUp({ project: former, email: 'uwe@example.org' });
  const change = (id: string, set: string) =>
    bed.database.query(`UPDATE users SET ${set} WHERE project_number = $1 AND id = $2`, [
      former.number,
      id,
    ]);
  await change(ute.user.id, `email_verified = true, profile = '{"a": [1.5, "ü"]}'`);
  await bed.database.query(
    `INSERT INTO identities (project_number, id, user_id, provider, label, issuer, subject, email, created_at, last_used_at)
     VALUES ($1, gen_random_uuid(), $2, 'google', 'Google', 'https://accounts.google.com', '1', NULL, '2026-01-01', '2026-01-01')`,
    [former.number, ute.user.id],
  );
  await change(uwe.user.id, `role = 'staff', blocked_at = now(), block_reason = 'Spam'`);
  return [ute.user.id, uwe.user.id] as const;
};

const somePasskey = {
  credentialId: 'AAAA',
  publicKey: 'AAAA',
  counter: 0,
  transports: [],
  host: 'localhost',
  name: 'Phone',
  createdAt: '2026-01-01T00:00:00.000Z',
};

describe('users of an archive', () => {
  let ids: readonly [string, string];
  beforeAll(async () => {
    ids = await setUp();
    const members = ids.map((id, n) => `('${id}'::uuid, '${n ? 'member' : 'owner'}')`).join(',');
    await bed.database.query(
      `WITH made AS (INSERT INTO groups (project_number, id, name, created_at)
         VALUES (${former.number}, '${ids[0]}', 'Friends', '2026-01-01') RETURNING id)
       SELECT FROM made`,
    );
    await bed.database.query(
      `INSERT INTO group_members (project_number, group_id, user_id, role, joined_at)
       SELECT ${former.number}, '${ids[0]}', m.id, m.role, '2026-01-02' FROM (VALUES ${members}) m (id, role)`,
    );
  });

  it('come back as they were, with their groups, and sign in where hashes came too', async () => {
    for (const hasPasswords of [true, false]) {
      const project = newProject();
      for (const kind of ['users', 'groups', 'members'] as const) {
        const text = await readAll(former, kind, hasPasswords);
        expect(await take(project, kind, text)).toEqual({});
        expect(withoutProofs(await readAll(project, kind, hasPasswords))).toBe(withoutProofs(text));
      }
      const person = { email: 'ute@example.org', password: goodPassword };
      const { status } = await bed.signIn(person, undefined, project);
      expect([hasPasswords, status]).toEqual([hasPasswords, hasPasswords ? 200 : 401]);
    }
  });

  it('sign in by their passkeys, and are asked for no code: secrets of apps are no part of it', async () => {
    const from = newProject();
    const person = await bed.signUp({ project: from });
    const device = createAuthenticator(undefined, { isCounting: true });
    const { identity } = person;
    const asked = await bed.call('POST', '/auth/passkeys/options', { identity });
    const body = { credential: device.create(asked.body), name: 'Phone' };
    await bed.call('POST', '/auth/passkeys', { identity, body });
    const { recoveryCodes } = await setUpApp(bed, person);
    const text = await readAll(from, 'users', true);
    for (const secret of ['totp', 'factor', 'recovery', ...recoveryCodes])
      expect(text).not.toContain(secret);
    const project = newProject();
    expect(await take(project, 'users', text)).toEqual({});
    expect(withoutProofs(await readAll(project, 'users', true))).toBe(withoutProofs(text));
    const signIn = async (to: Project) => {
      const as = { identity: anonymous({ project: to }) };
      const options = await bed.call('POST', '/auth/passkeys/sign-in/options', as);
      const credential = device.get(options.body);
      return bed.call('POST', '/auth/passkeys/sign-in', { ...as, body: { credential } });
    };
    expect((await signIn(project)).body.user.id).toBe(person.user.id);
    expect((await signIn(newProject())).status).toBe(401);
    const { body: signedIn } = await bed.signIn(person, undefined, project);
    expect(signedIn.token).toBeDefined();
  });

  it('take a page each where they are large, so that an import takes them', async () => {
    const from = newProject();
    for (let n = 0; n < 3; n++) await bed.signUp({ project: from });
    await bed.database.query(
      `UPDATE users SET profile = jsonb_build_object('a', repeat('x', 600000)) WHERE project_number = $1`,
      [from.number],
    );
    const first = await part.readLines({
      project: from,
      kind: 'users',
      ip: '',
      after: null,
      hasPasswords: false,
    });
    expect(first.text.split('\n')).toHaveLength(2);
    expect(first.next).not.toBeNull();
    expect((await readAll(from, 'users')).split('\n')).toHaveLength(4);
  });

  it('are verified by the word of this installation alone', async () => {
    const text = await readAll(former, 'users');
    const forged = text.replaceAll('ute@example.org', 'anybody@example.org');
    const project = newProject();
    expect(await take(project, 'users', forged)).toEqual({});
    expect(await readAll(project, 'users')).not.toContain('"emailVerified":true');
  });

  it('are verified by the proof of the same user, project and day, for a year', async () => {
    const text = await readAll(former, 'users');
    const proof = String(/"verifiedBy":"([^"]*)"/.exec(text)?.[1]);
    expect(proof).toMatch(/^former\.\d{4}-\d\d-\d\d\.[\w-]{43}$/);
    const [projectId, day, signature] = proof.split('.');
    const isVerified = async (change: (lines: string) => string) => {
      const project = newProject();
      expect(await take(project, 'users', change(text))).toEqual({});
      return (await readAll(project, 'users')).includes('"emailVerified":true');
    };
    const withProof = (other: string) => (lines: string) => lines.replace(proof, other);
    expect(await isVerified((lines) => lines)).toBe(true);
    expect(await isVerified(withProof(`other.${day}.${signature}`))).toBe(false);
    expect(await isVerified(withProof(`${projectId}.2026-01-01.${signature}`))).toBe(false);
    expect(await isVerified(withProof(signature ?? ''))).toBe(false);
    const [ute, uwe] = ids;
    const swapped = (lines: string) => lines.replace(ute, 'x').replace(uwe, ute).replace('x', uwe);
    expect(await isVerified(swapped)).toBe(false);
    bed.clock.pass(401 * 24 * 60 * 60 * 1000);
    expect(await isVerified((lines) => lines)).toBe(false);
  });

  it('keep no hash that would cost everybody a lot', async () => {
    const text = await readAll(former, 'users', true);
    const project = newProject();
    await take(project, 'users', text.replaceAll(/m=\d+/g, 'm=4000000'));
    expect(await readAll(project, 'users', true)).not.toContain('m=4000000');
  });

  it.each<[string, ArchiveKind, (text: string) => string]>([
    ['twice the same', 'users', (text) => text + text],
    ['no JSON', 'users', () => '{\n'],
    ['no end of a line', 'users', (text) => text.trimEnd()],
    [
      'one account elsewhere for two users',
      'users',
      (text) =>
        text.replace(
          /("identities":\[.*?\])(.*\n)(.*)\}\n$/,
          (_all, linked: string, rest: string, other: string) =>
            `${linked}${rest}${other},${linked}}\n`,
        ),
    ],
    [
      'one passkey for two users',
      'users',
      (text) => text.replaceAll('{"id"', `{"passkeys":[${JSON.stringify(somePasskey)}],"id"`),
    ],
    [
      'a passkey without an end',
      'users',
      (text) =>
        text.replace(
          '{"id"',
          `{"passkeys":[${JSON.stringify({ ...somePasskey, publicKey: 'x'.repeat(2733) })}],"id"`,
        ),
    ],
    ['an unknown field', 'users', (text) => text.replace('{"id"', '{"isAdmin":true,"id"')],
    ['a wrong address', 'users', (text) => text.replace('ute@example.org', 'ute')],
    ['too large a profile', 'users', (text) => text.replace('1.5', `"${'a'.repeat(9000)}"`)],
    ['members of groups that are not there', 'members', (text) => text],
  ])('are refused where a page has %s, and none of it is there', async (_what, kind, change) => {
    const project = newProject();
    const { refused } = await take(project, kind, change(await readAll(former, kind)));
    expect(refused?.code).toBe('invalid_body');
    expect(await readAll(project, kind)).toBe('');
  });
});
