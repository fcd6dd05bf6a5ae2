import { isAct, type RouteDefinition, routes } from '@backlot/contract';
import { until } from '@backlot/testing';
import type { Answer, Api } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest, usualModes } from './platform-under-test.ts';

interface Line {
  action: string;
  ownerId: string | null;
  actor: { kind: string };
  after: Record<string, unknown> | null;
}

type Project = Awaited<ReturnType<PlatformUnderTest['newProject']>>;

/** What a call that succeeds needs of the project before it. */
interface Given {
  platform: PlatformUnderTest;
  project: Project;
  asOwner(method: string, path: string, body?: unknown, headers?: object): Promise<Answer>;
  asOperator(method: string, path: string, body?: unknown): Promise<Answer>;
}

const webhook = { url: 'https://hooks.example.org/x', on: ['record.created'] };
const template = { subject: 'Hello', html: '<p>Hello</p>', to: 'caller' };
const preset = { access: 'shared' };

const invite = ({ id }: Project) =>
  [
    'POST',
    `/projects/${id}/invitations`,
    { email: 'colleague@example.org', role: 'viewer' },
  ] as const;

/** One good call of each act, by what it takes. */
const goodCalls: Record<string, (given: Given) => Promise<Answer>> = {
  createProject: ({ asOwner }) => asOwner('POST', '/projects', { name: 'Another' }),
  updateProject: ({ asOwner, project }) =>
    asOwner('PATCH', `/projects/${project.id}`, { name: 'New' }),
  deleteProject: ({ asOwner, project }) => asOwner('DELETE', `/projects/${project.id}`),
  restoreProject: async ({ asOwner, project }) => {
    await asOwner('DELETE', `/projects/${project.id}`);
    return until(async () => {
      const answer = await asOwner('POST', `/projects/${project.id}/restore`);
      if (answer.status !== 200) throw new Error(`It is ${answer.status}.`);
      return answer;
    });
  },
  setLimits: ({ asOwner, project }) =>
    asOwner('PUT', `/projects/${project.id}/limits`, { read: { perCaller: 5 } }),
  setConfig: ({ asOwner, project }) =>
    asOwner('PUT', `/projects/${project.id}/config`, { settings: { mailContent: 'templates' } }),
  setRole: ({ asOwner, project }) =>
    asOwner('PUT', `/projects/${project.id}/roles/staff`, { may: [] }),
  deleteRole: async ({ asOwner, project }) => {
    await asOwner('PUT', `/projects/${project.id}/roles/staff`, { may: [] });
    return asOwner('DELETE', `/projects/${project.id}/roles/staff`);
  },
  createKey: ({ asOwner, project }) =>
    asOwner('POST', `/projects/${project.id}/keys`, { name: 'k', scopes: ['read'] }),
  deleteKey: async ({ asOwner, project }) => {
    const path = `/projects/${project.id}/keys`;
    const { body } = await asOwner('POST', path, { name: 'k', scopes: ['read'] });
    return asOwner('DELETE', `${path}/${body.id}`);
  },
  createPreview: ({ asOwner, project }) => asOwner('POST', `/projects/${project.id}/preview`, {}),
  deletePreview: async ({ asOwner, project }) => {
    await asOwner('POST', `/projects/${project.id}/preview`, {});
    return asOwner('DELETE', `/projects/${project.id}/preview`);
  },
  copyProject: ({ asOwner, project }) =>
    asOwner('POST', `/projects/${project.id}/copy`, { name: 'Copy' }),
  addOrigin: ({ asOwner, project }) =>
    asOwner('POST', `/projects/${project.id}/origins`, { origin: 'https://app.example.org' }),
  setWebhook: ({ asOwner, project }) =>
    asOwner('PUT', `/projects/${project.id}/webhooks/main`, webhook),
  setCollectionAccess: ({ asOwner, project }) =>
    asOwner('PUT', `/projects/${project.id}/collections/notes`, preset),
  renameCollection: async ({ asOwner, project }) => {
    await asOwner('PUT', `/projects/${project.id}/collections/notes`, preset);
    return asOwner('PATCH', `/projects/${project.id}/collections/notes`, { name: 'pages' });
  },
  deleteCollection: async ({ asOwner, project }) => {
    await asOwner('PUT', `/projects/${project.id}/collections/notes`, preset);
    return asOwner('DELETE', `/projects/${project.id}/collections/notes`);
  },
  restoreCollection: async ({ asOwner, project }) => {
    await asOwner('PUT', `/projects/${project.id}/collections/notes`, preset);
    await asOwner('DELETE', `/projects/${project.id}/collections/notes`);
    return asOwner('POST', `/projects/${project.id}/collections/notes/restore`, {});
  },
  eraseTrashedCollection: async ({ asOwner, project }) => {
    await asOwner('PUT', `/projects/${project.id}/collections/notes`, preset);
    await asOwner('DELETE', `/projects/${project.id}/collections/notes`);
    return asOwner('DELETE', `/projects/${project.id}/trash/collections/notes`);
  },
  createRestorePoint: ({ asOwner, project }) =>
    asOwner('POST', `/projects/${project.id}/restore-points`, { name: 'before' }),
  deleteRestorePoint: async ({ asOwner, project }) => {
    await asOwner('POST', `/projects/${project.id}/restore-points`, { name: 'before' });
    return asOwner('DELETE', `/projects/${project.id}/restore-points/before`);
  },
  undoChanges: async ({ asOwner, project }) => {
    await asOwner('POST', `/projects/${project.id}/restore-points`, { name: 'before' });
    return asOwner('POST', `/projects/${project.id}/undo`, { restorePoint: 'before' });
  },
  setPrompt: ({ asOwner, project }) =>
    asOwner('PUT', `/projects/${project.id}/prompts/hello`, { system: 'Say hello.' }),
  setMailTemplate: ({ asOwner, project }) =>
    asOwner('PUT', `/projects/${project.id}/mail-templates/hello`, template),
  deleteMailTemplate: async ({ asOwner, project }) => {
    await asOwner('PUT', `/projects/${project.id}/mail-templates/hello`, template);
    return asOwner('DELETE', `/projects/${project.id}/mail-templates/hello`);
  },
  updateUser: async ({ asOwner, project, platform }) => {
    const { id } = await platform.signUp(project.id);
    return asOwner('PATCH', `/projects/${project.id}/users/${id}`, { role: 'staff' });
  },
  deleteUser: async ({ asOwner, project, platform }) => {
    const { id } = await platform.signUp(project.id);
    return asOwner('DELETE', `/projects/${project.id}/users/${id}`);
  },
  endUserSessions: async ({ asOwner, project, platform }) => {
    const { id } = await platform.signUp(project.id);
    return asOwner('DELETE', `/projects/${project.id}/users/${id}/sessions`);
  },
  resetUserFactors: async ({ asOwner, project, platform }) => {
    const { id } = await platform.signUp(project.id);
    return asOwner('DELETE', `/projects/${project.id}/users/${id}/factors`);
  },
  createGrant: ({ asOperator, project }) =>
    asOperator('POST', '/credits/grants', {
      ownerId: project.owner.id,
      credits: 5,
      reason: 'welcome',
    }),
  reverseGrant: async ({ asOperator, project }) => {
    const { body } = await asOperator('POST', '/credits/grants', {
      ownerId: project.owner.id,
      credits: 5,
      reason: 'by mistake',
    });
    return asOperator('POST', `/credits/grants/${body.id}/reverse`, { reason: 'by mistake' });
  },
  inviteMember: ({ asOwner, project }) => asOwner(...invite(project)),
  resendMemberInvitation: async ({ asOwner, project }) => {
    const { body } = await asOwner(...invite(project));
    return asOwner('POST', `/projects/${project.id}/invitations/${body.id}/resend`);
  },
  revokeMemberInvitation: async ({ asOwner, project }) => {
    const { body } = await asOwner(...invite(project));
    return asOwner('DELETE', `/projects/${project.id}/invitations/${body.id}`);
  },
  suspendOwner: ({ asOperator, project }) =>
    asOperator('POST', `/owners/${project.owner.id}/suspend`, { reason: 'fraud' }),
  liftOwner: async ({ asOperator, project }) => {
    await asOperator('POST', `/owners/${project.owner.id}/suspend`, { reason: 'fraud' });
    return asOperator('POST', `/owners/${project.owner.id}/lift`, {});
  },
  suspendProject: ({ asOperator, project }) =>
    asOperator('POST', `/projects/${project.id}/suspend`, { reason: 'spam', capability: 'mail' }),
  liftProject: async ({ asOperator, project }) => {
    await asOperator('POST', `/projects/${project.id}/suspend`, { reason: 'spam' });
    return asOperator('POST', `/projects/${project.id}/lift`, {});
  },
};

/** Noted by the kit around their handlers, as those above are, or with what another of them does. */
const asOthers = [
  'acceptMemberInvitation',
  'deleteUserFactor',
  'dismissFinding',
  'dropParkedEvent',
  'leaveProject',
  'noteBackup',
  'removeMember',
  'reopenFinding',
  'tellFinding',
  'replayParkedEvent',
  'resealSecrets',
  'setMemberRole',
  'endUserSession',
  'deleteAuthProvider',
  'setAuthProvider',
  'importProject',
  'promotePreview',
  'removeOrigin',
  'verifyOrigin',
  'deleteWebhook',
  'renewWebhookSecret',
  'replayWebhook',
  'deleteOpenaiSecret',
  'deletePrompt',
  'setOpenaiSecret',
  'resumeEmails',
  'deleteStripeSecret',
  'refundPayment',
  'setStripeSecret',
  'deleteOnPaidRule',
  'setOnPaidRule',
  'createOperatorToken',
  'revokeOperatorToken',
];

const isChange = ({ callers, method, ignoresCredentials, answeredBy }: RouteDefinition) =>
  callers.includes('owner') && method !== 'GET' && !ignoresCredentials && answeredBy === undefined;

describe.each(usualModes)('the audit log of a platform, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  beforeAll(async () => {
    platform = await platformUnderTest(mode);
  });
  afterAll(() => platform.stop());

  const caller =
    (token: string): Given['asOwner'] =>
    (method, path, body) =>
      platform.control(method as Parameters<Api>[0], path, {
        token,
        ...(body !== undefined && { body }),
      });
  const linesOf = async (ownerId: string): Promise<Line[]> => {
    const { body } = await platform.control('GET', `/audit?limit=100&ownerId=${ownerId}`, {
      token: platform.operatorToken,
    });
    return body.items;
  };

  it.each(Object.keys(goodCalls))('%s leaves a line', async (operationId) => {
    const route = routes.find((one) => one.operationId === operationId);
    expect(route && isAct(route)).toBe(true);
    const project = await platform.newProject();
    const given: Given = {
      platform,
      project,
      asOwner: caller(project.owner.token),
      asOperator: caller(platform.operatorToken),
    };
    const { status, body } = (await goodCalls[operationId]?.(given)) ?? { status: 0, body: null };
    expect([status < 300, body]).toEqual([true, body]);
    const line = await until(async () =>
      (await linesOf(project.owner.id)).find(({ action }) => action === operationId),
    );
    expect(line).toMatchObject({
      ownerId: project.owner.id,
      actor: { kind: route?.callers.includes('owner') ? 'owner' : 'operator' },
    });
  });

  it('every act of the contract is among them', () => {
    const acts = routes.filter(isAct).map(({ operationId }) => operationId);
    expect([...Object.keys(goodCalls), ...asOthers].sort()).toEqual(acts.sort());
  });

  it('a suspended owner lifts it by no route of theirs; both acts are in the log', async () => {
    const project = await platform.newProject();
    const { id: ownerId, token } = project.owner;
    const asOperator = caller(platform.operatorToken);
    await asOperator('POST', `/owners/${ownerId}/suspend`, { reason: 'fraud' });
    const refused = async () => (await project.api('GET', '/db/notes')).body.code === 'suspended';
    await until(refused);
    for (const { method, plane, path } of routes.filter(isChange)) {
      const filled = path.replace(':projectId', project.id).replace(/:ownerId/g, ownerId);
      const api = plane === 'platform' ? platform.control : project.api;
      const { status } = await api(method, filled.replace(/:[A-Za-z]+/g, 'all'), {
        token,
        body: {},
      });
      expect(status).toBeLessThan(500);
    }
    expect(await refused()).toBe(true);
    const again = await platform.control('POST', '/projects', { token, body: { name: 'More' } });
    expect([401, 403]).toContain(again.status);
    expect((await asOperator('POST', `/owners/${ownerId}/lift`, {})).body).toEqual({
      suspensions: [],
    });
    await until(async () => (await project.api('GET', '/db/notes')).status === 200);
    const acts = await until(async () => {
      const lines = await linesOf(ownerId);
      return lines[0]?.action === 'liftOwner' && lines;
    });
    expect(
      acts
        .map(({ action, actor }) => `${actor.kind} ${action}`)
        .filter((act) => /Owner$/.test(act)),
    ).toEqual(['operator liftOwner', 'operator suspendOwner']);
    const { body } = await platform.control('GET', `/projects/${project.id}`, {
      token: platform.operatorToken,
    });
    expect(body).not.toHaveProperty('suspensions');
  });
});
