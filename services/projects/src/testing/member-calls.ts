import type { Payload, RouteDefinition } from '@backlot/contract';
import { asOwner } from '@backlot/testing';
import { expect } from '@jest/globals';
import { dayMs, ownerA, ownerB, platform, type TestBed } from './test-bed.ts';

const account = (last: string) => `018f0000-0000-7000-8000-0000000000${last}`;
export const [ada, bob, cyd] = [account('c1'), account('c2'), account('c3')];
const addresses: Record<string, string> = {
  [ownerA]: 'olga@example.org',
  [ownerB]: 'otto@example.org',
  [ada]: 'ada@example.org',
  [bob]: 'bob@example.org',
  [cyd]: 'cyd@example.org',
};

/** The accounts have the addresses that they are invited by. */
export const setAddresses = (bed: TestBed) => {
  for (const [userId, email] of Object.entries(addresses)) bed.owners.addresses.set(userId, email);
};

/** Calls of owners, and of those who are invited or members. */
export const createMemberCalls = (bed: () => TestBed) => {
  const asMember = async (userId: string, projectId: string) => {
    const identity = await bed().owner(userId, projectId);
    const { members = {} } =
      (await bed().service.directories.projects.findProject(projectId)) ?? {};
    const memberRole = members[userId];
    return memberRole ? { ...identity, memberRole } : identity;
  };
  const call = async (
    userId: string,
    projectId: string,
    method: RouteDefinition['method'],
    rest: string,
    body?: unknown,
  ) =>
    bed().call(method, `/platform/projects/${projectId}${rest}`, {
      identity: await asMember(userId, projectId),
      body,
    });
  const withToken = (userId: string, does: 'show' | 'accept', token: string, headers = {}) =>
    bed().call('POST', `/platform/invitations/${does}`, {
      identity: asOwner({ userId, project: platform }),
      body: { token },
      headers,
    });
  const invite = async (
    projectId: string,
    { email = 'ada@example.org', role = 'editor', by = ownerA, ip = '192.0.2.1' } = {},
  ) => {
    await bed().takeEvents();
    const answer = await bed().call('POST', `/platform/projects/${projectId}/invitations`, {
      identity: { ...(await asMember(by, projectId)), ip },
      body: { email, role },
    });
    const mails = (await bed().takeEvents()).filter(({ topic }) => topic === 'member.invited');
    const { token = '' } = (mails.at(-1)?.payload ?? {}) as Partial<Payload<'member.invited'>>;
    return { answer, token, mails };
  };
  const join = async (projectId: string, userId: string, role = 'editor') => {
    // Each from somewhere else, and each address a few times a day.
    bed().pass(dayMs);
    const email = addresses[userId] ?? '';
    const { token } = await invite(projectId, { email, role });
    const answer = await withToken(userId, 'accept', token);
    expect(answer).toMatchObject({ status: 200, body: { id: projectId, role } });
    return token;
  };
  const members = async (projectId: string) =>
    (await bed().service.directories.projects.findProject(projectId))?.members;
  return { asMember, call, withToken, invite, join, members };
};
