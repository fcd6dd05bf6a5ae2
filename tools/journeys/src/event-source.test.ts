import { until } from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { expectHeardOnce } from './npm-event-source.ts';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

let platform: PlatformUnderTest;
let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
  platform = await platformUnderTest('http');
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
});

it("a browser's own EventSource sees a change by a ticket, and ends where it comes back with it", async () => {
  const project = await platform.newProject();
  const { token, id } = await platform.signUp(project.id);
  const { status, body } = await project.api('POST', '/events/ticket', { token });
  expect(status).toBe(201);

  const page = await browser.newPage();
  await page.goto(`${platform.url}/examples/chat/?project=${project.id}`);
  const answers: number[] = [];
  page.on('response', (answer) => {
    if (answer.url().includes('ticket=')) answers.push(answer.status());
  });
  const path = `/events?collections=notes&mine.notes=1&ticket=${body.ticket}`;
  await page.evaluate((url) => {
    const source = new EventSource(url);
    const told: string[] = [];
    for (const name of ['ready', 'change', 'end'])
      source.addEventListener(name, (event) =>
        told.push(`${name} ${(event as MessageEvent).data}`),
      );
    Object.assign(globalThis, { source, told });
  }, `/api/runtime/${project.id}${path}`);
  const hears = (start: string) =>
    page.waitForFunction(
      (text) =>
        (globalThis as unknown as { told: string[] }).told.find((one) => one.startsWith(text)),
      start,
    );
  await hears('ready');
  const note = await project.api('POST', '/db/notes', { token, body: { data: { n: 1 } } });
  const change = await (await hears('change')).jsonValue();
  expect(change).toContain(note.body.id);

  const { owner } = project;
  const user = `/projects/${project.id}/users/${id}`;
  const blocked = { token: owner.token, body: { blocked: true } };
  expect((await platform.control('PATCH', user, blocked)).status).toBe(200);
  await hears('end {"reason":"access"}');
  const unblocked = { token: owner.token, body: { blocked: false } };
  expect((await platform.control('PATCH', user, unblocked)).status).toBe(200);
  await page.waitForFunction(
    () => (globalThis as unknown as { source: EventSource }).source.readyState === 2,
  );
  await until(() => answers.length === 2);
  expect(answers).toEqual([200, 401]);
  expect((await project.api('GET', path)).body).toMatchObject({
    code: 'invalid_token',
    error: 'This ticket was used before.',
  });
});

it('the package eventsource hears each change once, by tickets, though its connection is cut', async () => {
  await expectHeardOnce(platform, platform.url);
});
