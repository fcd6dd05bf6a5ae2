import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest, usualModes } from './platform-under-test.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

describe.each(usualModes)('images shown to the AI, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  beforeAll(async () => {
    platform = await platformUnderTest(mode);
    project = await platform.newProject();
  }, 300_000);
  afterAll(() => platform?.stop());

  const upload = async (token: string, content: Buffer) => {
    const form = new FormData();
    form.append('visibility', 'private');
    form.append('file', new Blob([new Uint8Array(content)]), 'a.png');
    const url = `${platform.url}/api/runtime/${project.id}/storage/upload`;
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(url, { method: 'POST', headers, body: form });
    return (JSON.parse(await response.text()) as { id: string }).id;
  };
  const credits = async () =>
    (await platform.control('GET', '/credits', { token: project.owner.token })).body;

  it('are seen where the caller may read them, and paid; else they are no files, and free', async () => {
    const [ada, eve] = [await platform.signUp(project.id), await platform.signUp(project.id)];
    const fileId = await upload(ada.token, png);
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image', fileId },
    ];
    const body = { messages: [{ role: 'user', content }], maxTokens: 100 };
    const ask = (token?: string) =>
      project.api('POST', '/ai', { ...(token !== undefined && { token }), body });

    await until(async () => (await credits()).balanceMillicredits === 999_000);
    for (const stranger of [undefined, eve.token]) {
      const answer = await ask(stranger);
      expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
    await until(async () => (await credits()).reservedMillicredits === 0);
    expect((await credits()).balanceMillicredits).toBe(999_000);

    const answer = await ask(ada.token);
    expect(answer.status).toBe(200);
    expect(answer.body.text).toMatch(/\(with one image of \d+ bytes\) What is this\?/);
    await until(async () => (await credits()).balanceMillicredits < 999_000 - 2560);
    expect((await credits()).balanceMillicredits).toBeGreaterThan(999_000 - 2800);
  });
});
