import type { ConfigAsking } from '@backlot/contract';
import { testProject } from '@backlot/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

const { id, number, ownerId } = testProject;
const origin = 'https://app.example';
const apply = (
  entries: Record<string, unknown>,
  { allowedOrigins = [origin], isTrial = false } = {},
) => {
  const changes: ConfigAsking['changes'] = Object.entries(entries).map(([name, to]) => ({
    section: 'mailTemplates',
    name,
    to,
  }));
  const project = { id, number, ownerId, allowedOrigins };
  return bed.service.directories.emailConfig.applyConfig({ project, changes, isTrial });
};
const read = async () =>
  (await bed.service.directories.emailConfig.readConfig(number)).mailTemplates;

const link = `<p>Hello {{name}}: <a href="${origin}/start">start</a></p>`;
const hello = {
  subject: 'Hello {{name}}',
  html: link,
  text: 'Hello {{name}}',
  to: 'caller',
  callers: ['role:staff'],
  fields: { name: 'string' },
};
const verify = { subject: 'Welcome', html: '<p><a href="{{link}}">Verify</a></p>' };

it('applies templates and words of account mails, and takes away what goes', async () => {
  expect(await apply({ hello, 'account.verify': verify })).toEqual({ left: [] });
  expect(await read()).toEqual({ hello, 'account.verify': verify });
  expect(await apply({ hello: { ...hello, subject: 'Hi {{name}}' } })).toEqual({ left: [] });
  expect(await read()).toMatchObject({ hello: { subject: 'Hi {{name}}' } });
  expect(await apply({ hello: null })).toEqual({ left: [] });
  expect(await read()).toEqual({ 'account.verify': verify });
});

it('lets templates lead to the origins that the same file allows, and to no others', async () => {
  const before = await read();
  const refused = await apply(
    { other: { ...verify, to: 'caller' }, hello },
    { allowedOrigins: [] },
  );
  expect(refused.refused).toMatchObject({ code: 'invalid_body' });
  expect(refused.refused?.message).toMatch(/^"mailTemplates\.(hello|other)": /);
  expect(await read()).toEqual(before);
  expect(await apply({ hello }, { isTrial: true })).toEqual({ left: [] });
  expect(await read()).toEqual(before);
});
