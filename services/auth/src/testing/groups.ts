import type { Group } from '@backlot/contract';
import type { Person, TestBed } from './test-bed.ts';

/** A group with an owner and, invited by them, others in these roles. */
export const createTestGroup = async <const Role extends string>(
  bed: TestBed,
  roles: readonly Role[] = [],
): Promise<{ group: Group; owner: Person; others: Record<Role, Person> }> => {
  const owner = await bed.signUp({ name: 'Olga' });
  const created = await bed.call('POST', '/groups', {
    identity: owner.identity,
    body: { name: 'Red team' },
  });
  const group: Group = created.body;
  const others = {} as Record<Role, Person>;
  for (const role of roles) {
    others[role] = await bed.signUp({ name: `The ${role}` });
    await join(bed, { group, owner, person: others[role], role });
  }
  await bed.takeEvents();
  return { group, owner, others };
};

export const invite = async (
  bed: TestBed,
  { group, owner, email, role }: { group: Group; owner: Person; email: string; role: string },
): Promise<string> => {
  await bed.call('POST', `/groups/${group.id}/invites`, {
    identity: owner.identity,
    body: { email, role },
  });
  return bed.mailedToken();
};

export const join = async (
  bed: TestBed,
  { person, ...given }: { group: Group; owner: Person; person: Person; role: string },
): Promise<void> => {
  const token = await invite(bed, { ...given, email: person.email });
  const { status } = await bed.call('POST', '/groups/join', {
    identity: person.identity,
    body: { token },
  });
  if (status !== 200) throw new Error(`joining answered ${status}`);
};
