import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from '../console-under-test.ts';

const mostTabs = 150;

/** What has the focus, by its name for screen readers, and whether it can be seen. */
const readFocus = `(() => {
  let element = document.activeElement;
  while (element.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  const { left, right, top, bottom } = element.getBoundingClientRect();
  const name =
    element.getAttribute('aria-label') ??
    (element.labels?.[0] ?? element).textContent;
  const isSeen = right > 0 && left < innerWidth && bottom > 0 && top < innerHeight;
  return { name: name.trim(), isSeen };
})()`;

/** Goes on by the Tab key until something of this name has the focus. */
const tabTo = async (page: Page, name: string | RegExp) => {
  const passed: string[] = [];
  for (let tabs = 0; tabs < mostTabs; tabs++) {
    await page.keyboard.press('Tab');
    const focus = await page.evaluate<{ name: string; isSeen: boolean }>(readFocus);
    passed.push(focus.name);
    if (typeof name === 'string' ? focus.name !== name : !name.test(focus.name)) continue;
    expect([focus.name, focus.isSeen]).toEqual([focus.name, true]);
    return;
  }
  throw new Error(`Tab leads to no ${name}, but to ${passed.slice(0, 40).join(' | ')}.`);
};

/** Goes down an open menu as far as this choice, and takes it. */
const pick = async (page: Page, name: string) => {
  await page.getByRole('menuitem', { name }).waitFor();
  for (let steps = 0; steps < mostTabs; steps++) {
    await page.keyboard.press('ArrowDown');
    const focus = await page.evaluate<{ name: string }>(readFocus);
    if (focus.name === name) return page.keyboard.press('Enter');
  }
  throw new Error(`The menu has no ${name}.`);
};

describe('the console on a phone, by the keyboard alone', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest();
  }, 300_000);
  afterAll(() => bed?.stop());

  it('leads from the sign-in to a record, a rule, a stranger’s view and a failing call, and out', async () => {
    const owner = await bed.platform.signUp('platform');
    const page = await bed.open('/', undefined, { viewport: { width: 390, height: 844 } });
    const press = (key: string) => page.keyboard.press(key);
    const type = (text: string) => page.keyboard.type(text);
    const choose = async (name: string | RegExp) => {
      await tabTo(page, name);
      await press('Enter');
    };
    const heading = (name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
    const goTo = async (screen: string) => {
      await press('Control+k');
      await page.getByRole('dialog').getByRole('combobox').waitFor();
      await type(screen);
      await page.getByRole('option', { name: screen, exact: true }).waitFor();
      await press('Enter');
      await heading(screen);
    };

    await heading('Sign in');
    await tabTo(page, 'E-mail address');
    await type(owner.email);
    await press('Tab');
    await type('a good long password');
    await press('Enter');

    await heading('Create your first project');
    await choose('Create project');
    await page.getByRole('dialog').waitFor();
    await type('Todo list');
    await press('Enter');

    await heading('Create your first collection');
    await choose('Create collection');
    await page.getByRole('dialog').waitFor();
    await type('todos');
    await press('Enter');
    await heading('todos has no records yet');
    await choose('New record');
    await heading('New record');
    await tabTo(page, 'Name of a field to add');
    await type('title');
    await press('Enter');
    await page.getByRole('textbox', { name: 'title' }).waitFor();
    await type('Buy milk');
    await press('Control+Enter');
    await page.getByRole('heading', { name: 'Record', exact: true }).waitFor();
    await press('Escape');
    await page.getByRole('gridcell', { name: 'Buy milk' }).waitFor();
    await shoot(page, 'keyboard-record');

    await choose('Menu');
    await choose('Rules');
    await heading('Rules');
    await choose('todos');
    await heading('Rules of todos');
    await tabTo(page, 'Begin with');
    await type('private');
    await choose('Review changes');
    await page.getByRole('dialog').waitFor();
    await choose('Set these rules');
    await page.getByText('The rules of todos hold now').waitFor();

    await goTo('Data');
    await choose('todos');
    await page.getByRole('gridcell', { name: 'Buy milk' }).waitFor();
    await choose(/^Seen as/);
    await pick(page, 'A stranger');
    await heading('This caller is refused');
    await shoot(page, 'keyboard-stranger');

    const [, projectId = ''] = /projects\/([a-z0-9]+)\//.exec(page.url()) ?? [];
    await bed.platform.runtime(projectId)('POST', '/db/todos', { body: { title: 'Tea' } });
    await goTo('Live calls');
    await page.getByRole('button', { name: 'POST /db/todos' }).first().waitFor();
    await choose('POST /db/todos');
    await page.getByRole('region', { name: 'POST /db/todos' }).waitFor();
    await tabTo(page, 'Copy for my coding agent');
    await shoot(page, 'keyboard-call');

    await choose('Menu');
    await choose(owner.email);
    await pick(page, 'Sign out');
    await heading('Sign in');
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });
});
