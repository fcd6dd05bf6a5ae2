import type { ProjectSnapshot } from '@backlot/contract';
import { anonymous, testProject, until } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createFakeMailer,
  createTestBed,
  type FakeMailer,
  projectSnapshot,
  type TestBed,
} from '../testing/test-bed.ts';
import { createProjectHolds } from './project-holds.ts';

const payload = { projectId: testProject.id, projectNumber: testProject.number };
const settings = { emailRecipients: 'anyone' };

describe('mails of a project', () => {
  let mailer: FakeMailer;
  let bed: TestBed;
  beforeEach(async () => {
    mailer = createFakeMailer();
    bed = await createTestBed({ mailer });
  });
  afterEach(() => bed.close());

  const send = async (subject: string, project: typeof testProject = testProject) => {
    const identity = anonymous({ project: { ...project, settings } });
    const { status } = await bed.send({ to: 'ada@example.org', subject, html: 'x' }, { identity });
    expect(status).toBe(200);
  };
  let events = 0;
  const become = async (status: ProjectSnapshot['status']) => {
    bed.setProject({ status });
    await bed.bus.publish({ id: String(++events), topic: 'project.changed', payload });
  };
  const heldNumbers = async () => {
    const rows = await bed.database.query<{ project_number: number }>(
      'SELECT * FROM held_projects',
    );
    return rows.map(({ project_number }) => project_number);
  };
  const snapshot = (status: ProjectSnapshot['status']) => ({
    ...projectSnapshot,
    status,
    limits: {} as ProjectSnapshot['limits'],
  });
  const subjects = () => mailer.sent.map(({ subject }) => subject);

  it('wait while it is paused, and go when it is active again; those of others go on', async () => {
    await send('early');
    await bed.service.start();
    await until(() => mailer.sent.length === 1);
    await become('paused');
    await until(async () => (await heldNumbers()).length === 1);
    await send('late');
    await send('other', { ...testProject, id: 'otherproject', number: 1002 });
    await until(() => mailer.sent.length === 2);
    await bed.service.deliver();
    expect(subjects()).toEqual(['early', 'other']);
    expect((await bed.list()).map(({ status }) => status)).toEqual(['queued', 'sent']);
    await become('active');
    await until(() => mailer.sent.length === 3);
    expect(subjects()).toEqual(['early', 'other', 'late']);
  });

  it('that were queued when it was deleted are not sent, nor when it is restored', async () => {
    await send('open');
    await send('secret');
    await bed.database.query(`UPDATE mails SET is_secret = true WHERE subject = 'secret'`);
    const holds = createProjectHolds({
      database: bed.database,
      projects: { findProject: async () => snapshot('deleted'), findKey: async () => null },
    });
    await holds.update(payload);
    await send('late');
    await bed.service.deliver();
    expect(mailer.sent).toEqual([]);
    expect(await bed.list()).toMatchObject([
      { subject: 'late', status: 'queued' },
      { subject: 'secret', status: 'failed', error: 'The project was deleted.' },
      { subject: 'open', status: 'failed', error: 'The project was deleted.' },
    ]);
    expect(
      await bed.database.query(`SELECT html, plain_text FROM mails WHERE subject = 'secret'`),
    ).toEqual([{ html: '', plain_text: '' }]);
    await bed.database.query('DELETE FROM held_projects');
    await bed.service.deliver();
    expect(subjects()).toEqual(['late']);
  });

  it('do not wait for an answer that was older than another', async () => {
    let isFirst = true;
    const holds = createProjectHolds({
      database: bed.database,
      projects: {
        async findProject() {
          if (!isFirst) return snapshot('active');
          isFirst = false;
          // Resumed, and heard of, while the answer "paused" is on its way.
          await holds.update(payload);
          return snapshot('paused');
        },
        findKey: async () => null,
      },
    });
    await holds.update(payload);
    expect(await heldNumbers()).toEqual([]);
  });

  it('leave nothing behind when the project is erased', async () => {
    await bed.service.start();
    await become('paused');
    await until(async () => (await heldNumbers()).length === 1);
    await bed.bus.publish({ id: 'erased', topic: 'project.erased', payload });
    await until(async () => (await heldNumbers()).length === 0);
  });
});
