import { newId } from '@backlot/client';
import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { isLong } from '../platform-under-test.ts';
import { expectAccessible } from './accessible.ts';
import {
  type ConsoleUnderTest,
  consoleUnderTest,
  type OwnedProject,
  shoot,
} from './console-under-test.ts';

const many = isLong ? 100_000 : 5000;
/** What the grid says it holds at most: twelve pages, of 200 rows, or of 1,000 that were passed over. */
const mostHeldRows = 12 * 1000;
/** Of a view of 900 px: what is in it, and some more. */
const mostRowsDrawn = 50;

const names = ['open', 'done', 'late'];

/** By an import, which the bound of writes a minute leaves room for. */
const fill = async (
  url: string,
  { id, owner }: OwnedProject,
  collection: string,
  count: number,
) => {
  const lines = Array.from({ length: count }, (_, n) =>
    JSON.stringify({
      n,
      title: `Order ${n}`,
      status: names[n % 3],
      isPaid: n % 2 === 0,
      address: { city: 'Rome' },
    }),
  ).join('\n');
  const name = newId();
  for (let from: number | null = 1; from !== null; ) {
    const query = new URLSearchParams({ import: name, from: String(from) });
    const answer = await fetch(`${url}/api/runtime/${id}/db/${collection}/_import?${query}`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${owner.token}`,
        'Content-Type': 'application/x-ndjson',
      },
      body: lines,
    });
    expect(answer.status).toBe(200);
    from = ((await answer.json()) as { next: number | null }).next;
  }
};

const grid = (page: Page) => page.getByRole('grid');
const rowWith = (page: Page, text: string) =>
  page.getByRole('row').filter({ has: page.getByRole('gridcell', { name: text, exact: true }) });

describe('the grid of records', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest();
  }, 300_000);
  afterAll(() => bed?.stop());

  const opened = async (count: number) => {
    const project = await bed.platform.newProject();
    await fill(bed.platform.url, project, 'orders', count);
    const page = await bed.open(`/projects/${project.id}/data/orders`, project.owner);
    await page.getByRole('gridcell', { name: `Order ${count - 1}`, exact: true }).waitFor();
    return { page, project };
  };

  it('is scrolled to its end and back, and holds few rows of many', async () => {
    const { page } = await opened(many);
    await page.getByText(`${many.toLocaleString('en')} records`, { exact: true }).waitFor();
    await shoot(page, 'data-grid');
    await expectAccessible(page);
    const held = async () => Number(await grid(page).getAttribute('data-held-rows'));
    const drawn = () => page.getByRole('row').count();
    let mostHeld = 0;
    let mostDrawn = 0;
    const look = async () => {
      mostHeld = Math.max(mostHeld, await held());
      mostDrawn = Math.max(mostDrawn, await drawn());
    };
    // The last row of the view, in turn by the wheel and by the bar.
    const scrollTo = async (row: number, text: string) => {
      await grid(page).evaluate(
        (element, scrollTop) => void Object.assign(element, { scrollTop }),
        row * 32,
      );
      await page.getByRole('gridcell', { name: text, exact: true }).waitFor();
      await look();
    };
    for (let row = 0; row < many; row += Math.ceil(many / 40))
      await scrollTo(row, `Order ${many - 1 - row}`);
    await scrollTo(many, 'Order 0');
    await scrollTo(0, `Order ${many - 1}`);

    await grid(page).focus();
    await page.keyboard.press('Control+End');
    await page.getByRole('gridcell', { name: 'Order 0', exact: true }).waitFor();
    await look();
    await page.keyboard.press('Control+Home');
    await page.getByRole('gridcell', { name: `Order ${many - 1}`, exact: true }).waitFor();
    // A box that was clicked has the focus no more once it stands for another record.
    await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).click();
    await page.getByText('1 record selected').waitFor();
    await scrollTo(200, `Order ${many - 1 - 200}`);
    expect(await page.evaluate('document.activeElement.getAttribute("role")')).toBe('grid');
    expect(mostHeld).toBeLessThanOrEqual(mostHeldRows);
    expect(mostDrawn).toBeLessThanOrEqual(mostRowsDrawn);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('stays where it is when a record is opened, wherever another list was scrolled to', async () => {
    const { page } = await opened(300);
    await grid(page).focus();
    await page.keyboard.press('Control+End');
    await page.getByRole('gridcell', { name: 'Order 0', exact: true }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('{"n": {"$gte": 100}}');
    await page.keyboard.press('Enter');
    await page.getByText('200 records', { exact: true }).waitFor();
    await page.getByRole('gridcell', { name: 'Order 299', exact: true }).click();
    await page.keyboard.press('Shift+Enter');
    await page.getByRole('heading', { name: 'Record', exact: true }).waitFor();
    expect(await page.evaluate(`document.querySelector('[role="grid"]').scrollTop`)).toBe(0);
    await page.context().close();
  });

  it('sorts and filters by clicking, and by text, and says so in the address', async () => {
    const { page } = await opened(30);
    await page.getByRole('button', { name: 'n', exact: true }).click();
    await page.getByRole('gridcell', { name: 'Order 0', exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get('sort')).toBe('n');
    await page.getByRole('button', { name: 'Column status' }).click();
    await page.getByRole('menuitem', { name: 'Filter…' }).click();
    await page.getByLabel('Value').selectOption('late');
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Filter' }).click();
    await page.getByText('10 records', { exact: true }).waitFor();
    const filter = page.getByRole('textbox', { name: 'Filter' });
    expect(await filter.inputValue()).toBe('{"status":"late"}');
    await grid(page).focus();
    await page.keyboard.press('/');
    await page.keyboard.type('{"n": {"$lt": 3}}');
    await page.keyboard.press('Enter');
    await page.getByText('3 records', { exact: true }).waitFor();
    expect(JSON.parse(new URL(page.url()).searchParams.get('where') ?? '')).toEqual({
      n: { $lt: 3 },
    });
    await page.reload();
    await page.getByText('3 records', { exact: true }).waitFor();
    await filter.fill('{"n": ');
    await filter.press('Enter');
    await page.getByText('This is no JSON yet').waitFor();
    await filter.fill('{"n": {"$near": 1}}');
    await filter.press('Enter');
    await page.getByRole('alert').filter({ hasText: '$near' }).waitFor();
    await shoot(page, 'data-filter-refused');
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('shows two editors of one record both versions, and asks', async () => {
    const { page, project } = await opened(3);
    const other = await bed.open(`/projects/${project.id}/data/orders`, project.owner);
    const { token } = project.owner;
    const { body } = await project.api('GET', '/db/orders', { token });
    const { id } = body.items.find(({ n }: { n: number }) => n === 1);
    const stored = async () => (await project.api('GET', `/db/orders/${id}`, { token })).body.title;

    const edit = async (editor: Page, title: string) => {
      const cell = editor.getByRole('gridcell', { name: title, exact: true });
      await cell.click();
      await grid(editor).focus();
      await editor.keyboard.press('Enter');
      return editor.getByRole('textbox', { name: 'title' });
    };
    const mine = await edit(page, 'Order 1');
    const theirs = await edit(other, 'Order 1');
    await theirs.fill('Theirs');
    await theirs.press('Enter');
    await until(async () => (await stored()) === 'Theirs', { what: 'their change' });
    await mine.fill('Mine');
    await mine.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Theirs', { exact: true }).waitFor();
    await dialog.getByText('Mine', { exact: true }).waitFor();
    await shoot(page, 'data-conflict');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Keep theirs' }).click();
    await page.getByRole('gridcell', { name: 'Theirs', exact: true }).waitFor();
    expect(await stored()).toBe('Theirs');

    // And in the panel, where yours wins.
    await rowWith(page, 'Theirs')
      .getByRole('button', { name: /^Open row/ })
      .click();
    await page.getByRole('textbox', { name: 'title' }).fill('Mine at last');
    await project.api('PATCH', `/db/orders/${id}`, { token, body: { data: { title: 'Newer' } } });
    await page.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('button', { name: 'Write yours over it' }).click();
    // Told to the other editor, whose grid is open, without a reload.
    await other.getByRole('gridcell', { name: 'Mine at last', exact: true }).waitFor();
    expect(await stored()).toBe('Mine at last');

    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByText('Newer').first().waitFor();
    await shoot(page, 'data-history');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Restore what was before' }).first().click();
    await page.getByRole('gridcell', { name: 'Newer', exact: true }).waitFor();
    expect(await stored()).toBe('Newer');
    expect(bed.problems).toEqual([]);
    await page.context().close();
    await other.context().close();
  });

  it('deletes 50 records by the keyboard, and brings them back', async () => {
    const { page, project } = await opened(60);
    const { token } = project.owner;
    const count = async () => (await project.api('GET', '/db/orders/_count', { token })).body.count;
    await grid(page).focus();
    await page.keyboard.press(' ');
    for (let row = 1; row < 50; row++) await page.keyboard.press('Shift+ArrowDown');
    await page.getByText('50 records selected').waitFor();
    await shoot(page, 'data-selected');
    await page.keyboard.press('Delete');
    await page.getByRole('dialog').getByText('Delete 50 records?').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Delete 50 records' }).press('Enter');
    await page.getByText('10 records', { exact: true }).waitFor();
    expect(await count()).toBe(10);
    const held = Promise.withResolvers<void>();
    await page.route('**/undo', async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Undo' }).click();
    // Before the server has brought back any.
    await page.getByText('60 records', { exact: true }).waitFor();
    await page.getByRole('gridcell', { name: 'Order 59', exact: true }).waitFor();
    expect(await count()).toBe(10);
    held.resolve();
    await page.getByText('50 records are back').waitFor();
    await page.getByText('60 records', { exact: true }).waitFor();
    expect(await count()).toBe(60);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('reaches both ends of a million records, and what lies between, in a few calls', async () => {
    const million = 1_000_000;
    const { page, project } = await opened(3);
    let calls = 0;
    // As the API would answer, which tests of its own show.
    await page.route(`**/api/runtime/${project.id}/db/orders?*`, (route) => {
      calls += 1;
      const query = new URL(route.request().url()).searchParams;
      const first = Number(query.get('cursor') ?? 0);
      const limit = Number(query.get('limit'));
      const items = Array.from({ length: Math.min(limit, million - first) }, (_, at) => {
        const n = query.get('sort') === 'createdAt' ? first + at : million - 1 - first - at;
        const id = `01a21ee0-0000-7000-8000-${String(n).padStart(12, '0')}`;
        return query.get('fields') === 'id' ? { id } : { id, n, title: `Order ${n}` };
      });
      const nextCursor = first + limit < million ? String(first + limit) : null;
      return route.fulfill({ json: { items, hasMore: nextCursor !== null, nextCursor } });
    });
    await page.route(`**/db/orders/_count*`, (route) =>
      route.fulfill({ json: { count: million } }),
    );
    await page.reload();
    await page.getByRole('gridcell', { name: 'Order 999999', exact: true }).waitFor();
    await page.getByText('1,000,000 records', { exact: true }).waitFor();
    calls = 0;
    await page.getByRole('button', { name: 'To the last' }).click();
    await page.getByRole('gridcell', { name: 'Order 0', exact: true }).waitFor();
    expect(calls).toBeLessThanOrEqual(2);
    await shoot(page, 'data-million');
    // The bar at one part in fifty: 20,000 rows from the top.
    calls = 0;
    await grid(page).evaluate((element) => {
      const { scrollHeight } = element as unknown as { scrollHeight: number };
      Object.assign(element, { scrollTop: scrollHeight / 50 });
    });
    await page
      .getByRole('gridcell', { name: /^Order 9(79|80)\d{3}$/ })
      .first()
      .waitFor();
    expect(calls).toBeLessThanOrEqual(30);
    expect(Number(await grid(page).getAttribute('data-held-rows'))).toBeLessThanOrEqual(
      mostHeldRows,
    );
    expect(await page.getByRole('row').count()).toBeLessThanOrEqual(mostRowsDrawn);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });
});

describe('the grid of records that are too many to look through', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest({ BACKLOT_SCAN_ROWS: '100' });
  }, 300_000);
  afterAll(() => bed?.stop());

  it('makes the index that a list needs, shows how far it is, and lists by it', async () => {
    const project = await bed.platform.newProject();
    await fill(bed.platform.url, project, 'orders', 3000);
    const page = await bed.open(`/projects/${project.id}/data/orders`, project.owner);
    await page.getByRole('gridcell', { name: 'Order 2999', exact: true }).waitFor();
    await page.getByRole('button', { name: 'n', exact: true }).click();
    await page.getByText('This list would read more than').waitFor();
    await shoot(page, 'data-too-expensive');
    await expectAccessible(page);
    const listed = page.getByRole('gridcell', { name: 'Order 0', exact: true }).waitFor();
    // On a busy machine the platform may make it first, and the button is gone.
    await Promise.any([page.getByRole('button', { name: 'Index n' }).click(), listed]);
    await listed;
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });
});
