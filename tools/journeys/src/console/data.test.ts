import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectAccessible } from './accessible.ts';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from './console-under-test.ts';

describe('the data of a project', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest();
  }, 300_000);
  afterAll(() => bed?.stop());

  it('leads from nothing to a first record, by the keyboard alone, and to its history', async () => {
    const { page, project } = await bed.openProject('/data');
    await page.getByRole('heading', { name: 'Create your first collection' }).waitFor();
    await shoot(page, 'data-empty');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create collection' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Name' }).focus();
    await page.keyboard.type('todos');
    await shoot(page, 'data-create');
    await expectAccessible(page);
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'todos has no records yet' }).waitFor();
    await shoot(page, 'data-collection-empty');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'New record' }).last().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Name of a field to add' }).focus();
    await page.keyboard.type('title');
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'title' }).focus();
    await page.keyboard.type('Buy milk');
    await shoot(page, 'data-new-record');
    await expectAccessible(page);
    await page.keyboard.press('Control+Enter');
    await page.getByRole('gridcell', { name: 'Buy milk' }).waitFor();
    const { body } = await project.api('GET', '/db/todos', { token: project.owner.token });
    expect(body.items).toMatchObject([{ title: 'Buy milk' }]);

    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.getByRole('textbox', { name: 'The record as JSON' }).waitFor();
    await shoot(page, 'data-json');
    await expectAccessible(page);
    await page.getByRole('tab', { name: 'JSON' }).focus();
    await page.keyboard.press('Escape');
    await page.getByRole('complementary', { name: 'Record' }).waitFor({ state: 'detached' });
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('runs and breaks nothing, whatever records hold', async () => {
    const project = await bed.platform.newProject();
    const { token } = project.owner;
    const hostile = {
      title: '<img src=x onerror="document.title=1">',
      formula: '=HYPERLINK("https://example.org")',
      turned: 'invoice\u202Egpj.exe',
      lines: 'one\r\ntwo\tthree',
      long: 'x'.repeat(1_000_000),
      deep: { a: [{ b: '</script><script>alert(1)</script>' }] },
      '<b>name</b>': '`; drop table',
      'a,b': 1,
      constructor: 'a builder',
      '-minus': 2,
    };
    const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`key${n}`, `v${n}`]));
    const create = (collection: string, data: object) =>
      project.api('POST', `/db/${collection}`, { token, body: { data } });
    expect((await create('odd', hostile)).status).toBe(201);
    expect((await create('wide', wide)).status).toBe(201);

    const page = await bed.open(`/projects/${project.id}/data/odd`, project.owner);
    await page.getByText('1 record', { exact: true }).waitFor();
    await page.getByRole('gridcell', { name: hostile.title, exact: true }).waitFor();
    await page.getByText('invoice⟨U+202E⟩gpj.exe').waitFor();
    expect(await page.evaluate('document.body.textContent.length')).toBeLessThan(20_000);
    await shoot(page, 'data-hostile');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Open row 1' }).click();
    await page.getByText('1,000,000 characters: edit it as JSON.').waitFor();
    await shoot(page, 'data-hostile-record');
    await expectAccessible(page);
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.getByRole('textbox', { name: 'The record as JSON' }).waitFor();
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByText('Created').waitFor();
    expect(await page.evaluate('document.scrollingElement.scrollWidth <= innerWidth')).toBe(true);

    await page.goto(`${bed.platform.url}/console/projects/${project.id}/data/wide`);
    await page.getByRole('gridcell', { name: 'v0', exact: true }).waitFor();
    await page.getByRole('button', { name: /hidden columns/ }).click();
    await page
      .getByRole('menuitem', { name: 'key999', exact: true })
      .waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Open row 1' }).click();
    await page.getByRole('button', { name: 'Show 940 more fields' }).waitFor();
    await shoot(page, 'data-wide');
    expect(await page.title()).toBe('wide · Backlot');
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('is seen as a stranger by the rules, imports and exports, and restores from the trash', async () => {
    const { page, project } = await bed.openProject('/data');
    const { token } = project.owner;
    await bed.platform.control('PUT', `/projects/${project.id}/collections/notes`, {
      token,
      body: { access: 'private' },
    });
    await page.goto(`${bed.platform.url}/console/projects/${project.id}/data/notes?panel=transfer`);
    await page.getByRole('heading', { name: 'Import' }).waitFor();
    await shoot(page, 'data-transfer');
    await expectAccessible(page);
    const lines = ['title,count', '"=1+1",1', 'Tea,2', 'Milk,many'].join('\n');
    await page
      .getByLabel('File')
      .setInputFiles({ name: 'notes.csv', mimeType: 'text/csv', buffer: Buffer.from(lines) });
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('Imported: notes.csv').waitFor();
    // Found again after a reload.
    await page.reload();
    await page.getByText('Imported: notes.csv').waitFor();
    await shoot(page, 'data-imported');
    await expectAccessible(page);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    expect((await saved).suggestedFilename()).toBe('notes.csv');

    await page.getByRole('link', { name: 'Records' }).click();
    await page.getByRole('gridcell', { name: 'Tea' }).waitFor();
    await page.getByRole('button', { name: /^Seen as/ }).click();
    await page.getByRole('menuitem', { name: 'A stranger' }).click();
    await page.getByText('This caller is refused').waitFor();
    await shoot(page, 'data-as-stranger');
    await expectAccessible(page);
    await page.getByRole('button', { name: /^Seen as/ }).click();
    await page.getByRole('menuitem', { name: 'You, the owner' }).click();

    await page.getByRole('gridcell', { name: 'Tea' }).click();
    await page.getByRole('grid').focus();
    await page.keyboard.press('Delete');
    await page.getByRole('button', { name: 'Delete 1 record' }).click();
    await page.getByRole('gridcell', { name: 'Tea' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Trash' }).click();
    await page.getByText('Tea').waitFor();
    await shoot(page, 'data-trash');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('Nothing was deleted lately').waitFor();
    await page.getByRole('link', { name: 'Indexes' }).click();
    await page.getByText('No index yet').waitFor();
    await shoot(page, 'data-indexes');
    await page.getByRole('link', { name: 'All collections' }).click();
    await page.getByRole('row').filter({ hasText: 'notes' }).waitFor();
    await shoot(page, 'data-collections');
    await expectAccessible(page);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('brings a deleted collection back, at once and later, under another name where its own is taken', async () => {
    const { page, project } = await bed.openProject('/data');
    const { token } = project.owner;
    const collection = `/projects/${project.id}/collections/notes`;
    const make = () => project.api('POST', '/db/notes', { body: { data: { n: 1 } } });
    const remove = async (what: string, action: string) => {
      await page.getByRole('button', { name: 'More of notes', exact: true }).click();
      await page.getByRole('menuitem', { name: what }).click();
      await page.getByRole('dialog').getByText('you can restore').waitFor();
      await page.getByRole('button', { name: action }).click();
    };
    const rows = (text: string) => page.getByRole('row').filter({ hasText: text });
    await make();
    await page.reload();
    await remove('Delete collection…', 'Delete collection');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('notes is as it was').waitFor();
    await remove('Delete all records…', 'Delete 1 record');
    await rows('emptied').waitFor();
    await make();
    await bed.platform.control('PUT', `/projects/${project.id}/collections/empty`, {
      token,
      body: { access: 'private' },
    });
    await bed.platform.control('DELETE', `/projects/${project.id}/collections/empty`, { token });
    await page.reload();
    await rows('empty').first().waitFor();
    await shoot(page, 'data-deleted-collections');
    await expectAccessible(page);
    await rows('emptied').getByRole('button', { name: 'Restore' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('There is a collection').waitFor();
    await shoot(page, 'data-restore-as');
    await expectAccessible(page);
    await dialog.getByRole('textbox').fill('notes-before');
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('link', { name: 'notes-before' }).waitFor();
    await page.getByRole('button', { name: 'More of the deleted empty' }).click();
    await page.getByRole('menuitem', { name: 'Erase for good…' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('empty');
    await page.getByRole('button', { name: 'Erase for good' }).click();
    await page.getByRole('heading', { name: 'Deleted collections' }).waitFor({ state: 'detached' });
    const { body } = await bed.platform.control('GET', collection.replace('/notes', ''), { token });
    expect(
      body.items.map(({ name, count }: { name: string; count: number }) => [name, count]),
    ).toEqual([
      ['notes', 1],
      ['notes-before', 1],
    ]);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('goes on importing while one looks elsewhere, and after the page was closed', async () => {
    const { page, project } = await bed.openProject('/data/logs?panel=transfer');
    page.on('dialog', (dialog) => void dialog.accept());
    const { token } = project.owner;
    const many = 12_000;
    const lines = Array.from({ length: many }, (_, n) =>
      JSON.stringify(n === 7 ? ['no record'] : { n, text: 'x'.repeat(180) }),
    );
    const file = {
      name: 'logs.ndjson',
      mimeType: 'application/x-ndjson',
      buffer: Buffer.from(lines.join('\n')),
    };
    let release = () => {};
    let parts = 0;
    await page.route('**/_import?*', async (route) => {
      parts += 1;
      // Each page’s second part waits until somebody lets it go.
      if (parts % 2 === 0) await new Promise<void>((resolve) => (release = resolve));
      await route.continue().catch(() => {});
    });
    const count = async () => (await project.api('GET', '/db/logs/_count', { token })).body.count;
    await page.getByLabel('File').setInputFiles(file);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('1 line has failed').waitFor();
    await page.getByRole('link', { name: 'All collections' }).click();
    await page.getByRole('link', { name: 'import under way' }).waitFor();
    await shoot(page, 'data-import-under-way');
    await page.reload();
    release();
    await page.getByRole('link', { name: 'import not finished' }).click();
    await page.getByText('It was left when the page was closed').waitFor();
    await shoot(page, 'data-import-left');
    await expectAccessible(page);
    await page.getByLabel('Choose logs.ndjson again').setInputFiles({ ...file, name: 'other.csv' });
    await page.getByText('This is another file').waitFor();
    await page.unroute('**/_import?*');
    await page.getByLabel('Choose logs.ndjson again').setInputFiles(file);
    await page.getByText('Imported: logs.ndjson').waitFor();
    // Each line once, whatever was sent twice.
    expect(await count()).toBe(many - 1);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('makes a record by the schema, says what does not fit beside its field, and keeps what was typed', async () => {
    const { page, project } = await bed.openProject('/data');
    const { token } = project.owner;
    const schema = {
      properties: {
        title: { type: 'string', minLength: 3 },
        status: { enum: ['open', 'done'] },
        rank: { type: 'integer', description: 'The least comes first' },
      },
      required: ['title'],
      additionalProperties: false,
    };
    await bed.platform.control('PUT', `/projects/${project.id}/collections/tasks`, {
      token,
      body: { schema },
    });
    await page.goto(`${bed.platform.url}/console/projects/${project.id}/data/tasks?record=new`);
    await page.getByRole('textbox', { name: 'title' }).fill('No');
    await page.getByRole('combobox', { name: 'status' }).selectOption('open');
    await page.getByRole('textbox', { name: 'rank' }).fill('first');
    await page.getByText('It is no number.').waitFor();
    await page.getByRole('textbox', { name: 'rank' }).fill('1');
    await page.getByRole('button', { name: 'Create record' }).click();
    await page.getByRole('alert').filter({ hasText: 'title must' }).first().waitFor();
    await shoot(page, 'data-schema-problem');
    await expectAccessible(page);
    expect(await page.getByRole('textbox', { name: 'title' }).inputValue()).toBe('No');
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('Leave without saving?').waitFor();
    await page.getByRole('button', { name: 'Stay' }).click();
    await page.getByRole('textbox', { name: 'title' }).fill('Now');
    await page.getByRole('button', { name: 'Create record' }).click();
    await page.getByRole('gridcell', { name: 'Now', exact: true }).waitFor();
    const { body } = await project.api('GET', '/db/tasks', { token });
    expect(body.items).toMatchObject([{ title: 'Now', status: 'open', rank: 1 }]);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });
});
