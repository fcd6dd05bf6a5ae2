import { expect, it } from '@jest/globals';
import { routes } from '../routes/index.ts';
import { roleReaches } from './member-roles.ts';
import { neededRole } from './needed-role.ts';

const roleOf = (operationId: string) => {
  const route = routes.find((candidate) => candidate.operationId === operationId);
  return route && neededRole(route);
};

it('each route that an owner calls in a project has a role', () => {
  for (const route of routes) {
    const isOfProject = route.plane === 'runtime' || route.path.includes('/:projectId');
    const hasRole = route.callers.includes('owner') && isOfProject;
    expect([route.operationId, neededRole(route) !== null]).toEqual([route.operationId, hasRole]);
  }
});

it.each([
  ['owner', ['deleteProject', 'restoreProject', 'setStripeSecret', 'openMailbox']],
  ['admin', ['createKey', 'listKeys', 'exportProject', 'exportUser', 'getConfig', 'getWebhook']],
  ['admin', ['getOpenaiSecret', 'inviteMember', 'setMemberRole', 'updateProject', 'refundPayment']],
  ['editor', ['createRecord', 'deleteRecords', 'sendEmail', 'generateText', 'moderateUser']],
  ['viewer', ['getProject', 'listRecords', 'listUsers', 'leaveProject', 'callTools']],
])('takes the %s: %s', (role, operations) => {
  for (const operation of operations)
    expect([operation, roleOf(operation)]).toEqual([operation, role]);
});

it('no member without a role that writes changes anything', () => {
  const harmless = [
    'createEventTicket',
    'tryAccess',
    'previewMailTemplate',
    'callTools',
    'leaveProject',
  ];
  for (const route of routes) {
    if (route.method === 'GET' || neededRole(route) !== 'viewer') continue;
    expect(harmless).toContain(route.operationId);
  }
});

it('an owner is what an admin is, and more', () => {
  expect(roleReaches('owner', 'admin')).toBe(true);
  expect(roleReaches('viewer', 'editor')).toBe(false);
  expect(roleReaches('editor', 'editor')).toBe(true);
});
