import { randomUUID } from 'node:crypto';
import { type RouteDefinition, suspensionRoutes } from '@backlot/contract';
import { asKey, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerB, type TestBed } from '../testing/test-bed.ts';

describe('suspensions', () => {
  let bed: TestBed;
  let projectId: string;
  let owner: string;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    owner = randomUUID();
    projectId = await bed.project(owner);
    await bed.takeEvents();
  });

  for (const route of [
    suspensionRoutes.suspendProject,
    suspensionRoutes.liftProject,
  ] satisfies RouteDefinition[])
    refusesStrangers(
      route,
      () => bed.http,
      () => ({
        path: route.path.replace(':projectId', projectId),
        body: route === suspensionRoutes.liftProject ? {} : { reason: 'phishing' },
      }),
    );

  const ofOwner = async (act: 'suspend' | 'lift', body: object, id = owner) =>
    bed.call('POST', `/platform/owners/${id}/${act}`, { identity: await bed.operator(), body });
  const ofProject = async (act: 'suspend' | 'lift', body: object, id = projectId) =>
    bed.call('POST', `/platform/projects/${id}/${act}`, {
      identity: await bed.operator(id),
      body,
    });
  const known = async (id = projectId) => {
    const project = await bed.service.directories.projects.findProject(id);
    return project && { status: project.status, suspended: project.suspended };
  };
  const asOwner = async (method: string, path: string, body?: unknown, id?: string) =>
    bed.call(method, `/platform${path}`, {
      identity: await bed.owner(owner, id),
      ...(body !== undefined && { body }),
    });
  const shown = async () =>
    (await asOwner('GET', `/projects/${projectId}`, undefined, projectId)).body;

  it('of a project pauses it for everybody, shows its owner the reason, and is told to gateways', async () => {
    expect(await known()).toEqual({ status: 'active', suspended: undefined });
    const since = new Date(bed.now()).toISOString();
    const suspensions = [{ of: 'project', capability: 'all', reason: 'phishing', since }];
    expect(await ofProject('suspend', { reason: 'phishing' })).toMatchObject({
      status: 200,
      body: { suspensions },
    });
    expect((await bed.takeEvents()).map(({ topic }) => topic)).toEqual(['project.changed']);
    expect(await known()).toEqual({ status: 'paused', suspended: ['all'] });
    expect(await shown()).toMatchObject({ status: 'active', suspensions });
    expect(await ofProject('lift', {})).toMatchObject({ status: 200, body: { suspensions: [] } });
    expect(await known()).toEqual({ status: 'active', suspended: undefined });
    expect(await shown()).not.toHaveProperty('suspensions');
    expect((await ofProject('lift', {})).status).toBe(404);
  });

  it('of one capability leaves the rest; several hold at once, of project and owner', async () => {
    await ofProject('suspend', { reason: 'spam', capability: 'mail' });
    await ofOwner('suspend', { reason: 'costs', capability: 'ai' });
    expect(await known()).toEqual({ status: 'active', suspended: ['mail', 'ai'] });
    await ofOwner('suspend', { reason: 'spam too', capability: 'mail' });
    await ofProject('lift', { capability: 'mail' });
    expect(await known()).toMatchObject({ suspended: ['ai', 'mail'] });
    await ofOwner('lift', { capability: 'mail' });
    await ofOwner('lift', { capability: 'ai' });
    expect(await known()).toMatchObject({ suspended: undefined });
  });

  it('of an owner holds for all of their projects, those of others go on, and they make and restore none', async () => {
    const other = await bed.project(owner);
    const others = await bed.project(ownerB);
    await asOwner('DELETE', `/projects/${other}`, undefined, other);
    await ofOwner('suspend', { reason: 'fraud' });
    expect(await known()).toEqual({ status: 'paused', suspended: ['all'] });
    expect(await known(others)).toEqual({ status: 'active', suspended: undefined });
    expect(await asOwner('POST', '/projects', { name: 'Another' })).toMatchObject({
      status: 403,
      body: { code: 'suspended', error: expect.stringContaining('fraud') },
    });
    expect(await asOwner('POST', `/projects/${other}/restore`, undefined, other)).toMatchObject({
      status: 403,
      body: { code: 'suspended' },
    });
    await ofOwner('lift', {});
    expect((await asOwner('POST', `/projects/${other}/restore`, undefined, other)).status).toBe(
      200,
    );
    expect(await known(other)).toEqual({ status: 'active', suspended: undefined });
    expect((await asOwner('POST', '/projects', { name: 'Another' })).status).toBe(201);
  });

  it('sticks through pause, resume, settings, config, deletion and restoring', async () => {
    await ofProject('suspend', { reason: 'phishing', capability: 'writes' });
    const path = `/projects/${projectId}`;
    for (const [method, rest, body] of [
      ['PATCH', '', { status: 'paused' }],
      ['PATCH', '', { status: 'active', settings: { mailContent: 'templates' } }],
      ['PUT', '/config', { settings: {} }],
      ['DELETE', '', undefined],
      ['POST', '/restore', undefined],
    ] as const)
      expect((await asOwner(method, path + rest, body, projectId)).status).toBe(200);
    expect(await known()).toEqual({ status: 'active', suspended: ['writes'] });
  });

  it('of an owner in one capability holds for projects that are made later', async () => {
    await ofOwner('suspend', { reason: 'spam', capability: 'mail' });
    const made = await bed.project(owner);
    expect(await known(made)).toEqual({ status: 'active', suspended: ['mail'] });
    await ofOwner('lift', { capability: 'mail' });
    expect(await known(made)).toEqual({ status: 'active', suspended: undefined });
  });

  it('no project of a suspended owner slips through that is made at the same time', async () => {
    const made = Array.from({ length: 6 }, () => asOwner('POST', '/projects', { name: 'Quick' }));
    await Promise.all([...made, ofOwner('suspend', { reason: 'fraud' })]);
    for (const answer of await Promise.all(made))
      if (answer.status === 201)
        expect(await known(String(answer.body.id))).toMatchObject({ suspended: ['all'] });
      else expect(answer.body.code).toBe('suspended');
  });

  it('two at once are one, with a line in the log for each act', async () => {
    await bed.take('platform.acted');
    const reasons = ['one', 'two'];
    await Promise.all(reasons.map((reason) => ofOwner('suspend', { reason })));
    const { suspensions } = await shown();
    expect(suspensions).toHaveLength(1);
    await Promise.all([ofOwner('lift', {}), ofOwner('lift', {})]);
    const acts = (await bed.take('platform.acted')).map(({ action, ownerId, actor }) => [
      action,
      ownerId,
      actor.kind,
    ]);
    expect(acts).toEqual([
      ['suspendOwner', owner, 'operator'],
      ['suspendOwner', owner, 'operator'],
      ['liftOwner', owner, 'operator'],
    ]);
  });

  it('is lifted by nobody but the operator, and of nobody that there is not', async () => {
    await ofProject('suspend', { reason: 'phishing' });
    const { project } = await bed.owner(owner, projectId);
    for (const identity of [
      await bed.owner(owner, projectId),
      asKey({ project, keyId: randomUUID() }),
    ])
      for (const path of [`/projects/${projectId}/lift`, `/owners/${owner}/lift`])
        expect((await bed.call('POST', `/platform${path}`, { identity, body: {} })).status).toBe(
          403,
        );
    expect(await known()).toMatchObject({ suspended: ['all'] });
    const unknown = randomUUID();
    bed.owners.unknown.add(unknown);
    expect((await ofOwner('suspend', { reason: 'x' }, unknown)).status).toBe(404);
    expect((await ofOwner('suspend', { reason: '' })).status).toBe(400);
    expect((await ofOwner('suspend', { reason: 'x', capability: 'air' })).status).toBe(400);
    expect((await ofProject('suspend', { reason: 'x' }, 'platform')).status).toBe(403);
  });

  it('lists to owners their own, to the operator all', async () => {
    await ofProject('suspend', { reason: 'spam', capability: 'mail' });
    await ofOwner('suspend', { reason: 'fraud' });
    const list = async (query: string, identity = bed.operator()) =>
      bed.call('GET', `/platform/suspensions${query}`, { identity: await identity });
    const { body } = await list('', bed.owner(owner));
    expect(
      body.items.map((item: Record<string, unknown>) => [
        item.of,
        item.capability,
        item.projectId,
        item.ownerId,
      ]),
    ).toEqual(
      expect.arrayContaining([
        ['owner', 'all', null, owner],
        ['project', 'mail', projectId, null],
      ]),
    );
    expect((await list(`?ownerId=${owner}`)).body.items).toEqual(body.items);
    expect((await list(`?ownerId=${owner}`, bed.owner(ownerB))).status).toBe(403);
    expect((await list('', bed.owner(ownerB))).body.items).toEqual([]);
  });
});
