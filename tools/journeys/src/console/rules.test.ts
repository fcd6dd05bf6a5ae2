import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectAccessible } from './accessible.ts';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from './console-under-test.ts';

describe('the console: rules', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest();
  }, 300_000);
  afterAll(() => bed?.stop());

  it('shows rules as sentences, tries others on records, and sets them once they were looked over', async () => {
    const { page, project } = await bed.openProject('/rules');
    const api = bed.platform.runtime(project.id);
    const { token } = project.owner;
    await page.getByRole('heading', { name: 'No collections yet' }).waitFor();
    await shoot(page, 'rules-empty');
    for (const title of ['Bread', '<img src=x onerror=alert(1)>'])
      await api('POST', '/db/orders', { token, body: { data: { title, price: 3, isPaid: true } } });
    await page.reload();
    await page.getByRole('link', { name: 'orders' }).click();
    await page.getByRole('heading', { name: 'Rules of orders' }).waitFor();
    const matrix = page.getByRole('region', { name: 'Who can do what' });
    const stranger = matrix.getByRole('row', { name: /A stranger/ });
    expect(await stranger.getByRole('cell').allTextContents()).toEqual([
      'yes',
      'yes',
      'some',
      'some',
    ]);
    await page.getByText('Of 2 records this caller reads 2').waitFor();
    await shoot(page, 'rules-collection');
    await expectAccessible(page);

    const reads = page.getByRole('region', { name: 'Who reads records' });
    await reads.getByRole('button', { name: 'Take out: anyone' }).click();
    await reads.getByRole('button', { name: /Let in/ }).click();
    await page.getByRole('menuitem', { name: 'a role…' }).click();
    await page.getByLabel('Role', { exact: true }).fill('staff');
    await page.getByRole('button', { name: 'Add role' }).click();
    await reads.getByRole('button', { name: /or…/ }).click();
    await page.getByRole('menuitem', { name: 'somebody, where…' }).click();
    await page.getByLabel('anyone', { exact: true }).check();
    await page.getByRole('textbox', { name: 'Where' }).fill('{"isPaid": ');
    await page.getByText('This is no JSON object.').waitFor();
    await page.getByRole('textbox', { name: 'Where' }).fill('{"isPaid": false}');
    await shoot(page, 'rules-condition');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Add condition' }).click();
    await page.getByText('this caller reads 0 (now 2)').waitFor();
    await page.getByLabel('Field to limit').fill('price');
    await page.getByRole('button', { name: 'Limit a field' }).click();
    await page.getByLabel('As whom').selectOption('the role staff');
    await page.getByText('does not see price').first().waitFor();
    await shoot(page, 'rules-draft');
    await expectAccessible(page);
    const before = await api('GET', '/db/orders', {});
    expect(before.body.items).toHaveLength(2);

    await page.getByRole('button', { name: 'Review changes' }).click();
    await page
      .getByRole('row', { name: /Who reads records anyone the role staff or anyone, where/ })
      .waitFor();
    await shoot(page, 'rules-review');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Set these rules' }).click();
    await page.getByText('The rules of orders hold now').waitFor();
    await until(async () => (await api('GET', '/db/orders', {})).body.items.length === 0);
    await page.getByRole('button', { name: 'Undo' }).click();
    await until(async () => (await api('GET', '/db/orders', {})).body.items.length === 2);
    await reads.getByText('anyone', { exact: true }).waitFor();
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('writes a schema from records, sets it, keeps it where it was refused, and reports what does not fit', async () => {
    const { page, project } = await bed.openProject('/rules');
    const api = bed.platform.runtime(project.id);
    const { token } = project.owner;
    await api('POST', '/db/notes', { token, body: { data: { title: 'A' } } });
    await page.goto(`${bed.platform.url}/console/projects/${project.id}/rules/notes`);
    await page.getByRole('button', { name: 'Write it from the records' }).click();
    await page.getByText('Written from 1 record').waitFor();
    const schema = page.getByRole('textbox', { name: 'What records have to be' });
    await schema.fill('{"properties": {"title": {"type": "nothing"}}}');
    await page.getByRole('button', { name: 'Set schema…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Set schema' }).click();
    await page.getByRole('alert').waitFor();
    expect(await schema.textContent()).toContain('nothing');
    const marked = page.locator('.schema-text .cm-lintRange-error');
    expect((await marked.allTextContents()).join('')).toBe('"type": "nothing"');
    await shoot(page, 'rules-schema-refused');
    await schema.fill('{"properties": {"title": {"type": "number"}}}');
    await page.getByRole('button', { name: 'Set schema…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Set schema' }).click();
    await page.getByText('The schema holds now').waitFor();
    await page.getByRole('button', { name: 'Check all records' }).click();
    await page.getByText('1 does not fit.').waitFor();
    await shoot(page, 'rules-schema');
    await expectAccessible(page);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('opens channels and undoes it', async () => {
    const { page, project } = await bed.openProject('/rules');
    const channels = async () => {
      const answer = await bed.platform.control('GET', `/projects/${project.id}`, {
        token: project.owner.token,
      });
      return answer.body.settings.channels;
    };
    await page.getByLabel('Channels to open').fill('room:*');
    await page.getByRole('button', { name: 'Open channels' }).click();
    const hears = page.getByRole('region', { name: 'Who hears' });
    await hears.getByRole('button', { name: /or…/ }).click();
    await page.getByRole('menuitem', { name: 'members of its group' }).click();
    await page.getByRole('button', { name: 'Save channels' }).click();
    await page.getByText('The rules of channels are saved').waitFor();
    expect(await channels()).toEqual({
      'room:*': { listen: ['users', 'group'], broadcast: ['users'] },
    });
    await shoot(page, 'rules-channels');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Undo' }).click();
    await until(async () => Object.keys((await channels()) ?? {}).length === 0);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });
});
