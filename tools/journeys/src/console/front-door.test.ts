import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectAccessible } from './accessible.ts';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from './console-under-test.ts';

describe('the front door', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest();
  }, 300_000);
  afterAll(() => bed?.stop());

  it('leads to a first record through the console alone, in under ten steps', async () => {
    const page = await bed.open('/../');
    const steps: string[] = [];
    const step = async (what: string, act: () => Promise<unknown>) => {
      steps.push(what);
      await act();
    };
    await page.getByRole('heading', { name: 'Create your backend' }).waitFor();
    await shoot(page, 'front-door');
    await expectAccessible(page);
    await step('sign up', async () => {
      await page.getByLabel('E-mail address').fill('newcomer@example.org');
      await page.getByLabel('Password').fill('a good long password');
      await page.getByRole('button', { name: 'Create your backend' }).click();
    });
    const create = page.getByRole('button', { name: 'Create project' });
    await step('create a project', () => create.first().click());
    await step('name it', async () => {
      await page.getByRole('textbox', { name: 'Name' }).fill('Todo list');
      await page.keyboard.press('Enter');
    });
    await step('create a collection', () =>
      page.getByRole('button', { name: 'Create collection' }).first().click(),
    );
    await step('name it', async () => {
      await page.getByRole('textbox', { name: 'Name' }).fill('todos');
      await page.keyboard.press('Enter');
    });
    await step('begin a record', () =>
      page.getByRole('button', { name: 'New record' }).last().click(),
    );
    await step('add a field', async () => {
      await page.getByRole('textbox', { name: 'Name of a field to add' }).fill('title');
      await page.keyboard.press('Enter');
    });
    await step('write and save', async () => {
      await page.getByRole('textbox', { name: 'title' }).fill('Buy milk');
      await page.keyboard.press('Control+Enter');
    });
    await page.getByRole('gridcell', { name: 'Buy milk' }).waitFor();
    await shoot(page, 'first-record');
    expect(steps.length).toBeLessThan(10);

    await page.goto(bed.platform.url);
    await page.getByRole('link', { name: 'Open the console' }).click();
    await page.getByRole('link', { name: 'Todo list' }).waitFor();
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('says what is wrong with a sign-up, in the words of the API, and keeps what was typed', async () => {
    const { owner } = await bed.platform.newProject();
    const page = await bed.open('/../');
    await page.getByLabel('E-mail address').fill(owner.email);
    await page.getByLabel('Password').fill('a good long password');
    await page.getByRole('button', { name: 'Create your backend' }).click();
    await page.getByRole('alert').filter({ hasText: 'e-mail' }).waitFor();
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(owner.email);
    await page.context().close();
  });

  it('has a page for addresses that nothing is at', async () => {
    const page = await bed.open('/../nowhere');
    await page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor();
    await shoot(page, 'nothing-here');
    await expectAccessible(page);
    await page.context().close();
  });
});
