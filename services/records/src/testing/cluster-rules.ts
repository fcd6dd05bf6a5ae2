import type { Database } from '@backlot/database';
import { loadModule, parseSync } from 'libpg-query';
import { acrossProjects } from '../across-projects.ts';
import { recordsService } from '../service.ts';

/** What of the database the rules rest on. */
export interface Catalog {
  /** Functions of the service. */
  ownFunctions: ReadonlySet<string>;
  /** Functions all of whose variants are IMMUTABLE. */
  immutableFunctions: ReadonlySet<string>;
}

type Node = Readonly<Record<string, unknown>>;

const distributed: ReadonlySet<string> = new Set(recordsService.distributed);

export const readCatalog = async (database: Database): Promise<Catalog> => {
  const rows = await database.query<{ name: string; is_own: boolean; is_immutable: boolean }>(
    `SELECT proname AS name, bool_or(pronamespace = 'records'::regnamespace) AS is_own,
       bool_and(provolatile = 'i') AS is_immutable
     FROM pg_proc WHERE pronamespace IN ('pg_catalog'::regnamespace, 'records'::regnamespace) GROUP BY 1`,
  );
  const named = (which: (row: (typeof rows)[number]) => boolean) =>
    new Set(rows.filter(which).map(({ name }) => name));
  // Its only variants that are not are those for times without a date.
  const immutableFunctions = named((row) => row.is_immutable).add('timezone');
  return { ownFunctions: named((row) => row.is_own), immutableFunctions };
};

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** Every node of the tree, with its kind where it has one; the sides of a UNION have none of their own. */
const visit = (value: unknown, onNode: (kind: string, node: Node) => void, kind = ''): void => {
  if (Array.isArray(value)) for (const item of value) visit(item, onNode);
  if (!isNode(value) || Array.isArray(value)) return;
  onNode(kind, value);
  for (const [key, child] of Object.entries(value)) {
    const isSide = (key === 'larg' || key === 'rarg') && isNode(child) && 'targetList' in child;
    visit(child, onNode, isSide ? 'SelectStmt' : key);
  }
};

const find = (value: unknown, kind: string): Node[] => {
  const found: Node[] = [];
  visit(value, (of, node) => of === kind && found.push(node));
  return found;
};

const names = (value: unknown): string[] => find(value, 'String').map(({ sval }) => String(sval));
const unwrap = (value: unknown, kind: string): Node | undefined =>
  isNode(value) && isNode(value[kind]) ? value[kind] : undefined;

const isParameter = (value: unknown): boolean => {
  const cast = unwrap(value, 'TypeCast');
  return cast ? isParameter(cast.arg) : unwrap(value, 'ParamRef') !== undefined;
};
const columnName = (value: unknown) => names(unwrap(value, 'ColumnRef')?.fields ?? []);

/** The tables that WITH defines, and which of them are an INSERT. */
interface With {
  names: ReadonlySet<unknown>;
  inserts: ReadonlySet<unknown>;
}

interface Table {
  name: string;
  alias: string;
}

const toTable = ({ relname, alias }: Node): Table => ({
  name: String(relname),
  alias: String(isNode(alias) ? alias.aliasname : relname),
});

/** Tables that a statement itself names, without those of its subqueries, and what it joins them on. */
const fromItems = (items: unknown): { tables: Table[]; conditions: unknown[] } => {
  const found = { tables: [] as Table[], conditions: [] as unknown[] };
  for (const item of Array.isArray(items) ? items : []) {
    const table = unwrap(item, 'RangeVar');
    const join = unwrap(item, 'JoinExpr');
    if (table) found.tables.push(toTable(table));
    if (!join) continue;
    const sides = fromItems([join.larg, join.rarg]);
    found.tables.push(...sides.tables);
    found.conditions.push(...sides.conditions, join.quals);
  }
  return found;
};

/** What holds for every row: the parts of an AND. */
const conjuncts = (condition: unknown): unknown[] => {
  const and = unwrap(condition, 'BoolExpr');
  return and?.boolop === 'AND_EXPR' ? (and.args as unknown[]).flatMap(conjuncts) : [condition];
};

const namesProject = (condition: unknown, alias: string): boolean => {
  const test = unwrap(condition, 'A_Expr');
  if (!test || names(test.name).join() !== '=' || !isParameter(test.rexpr)) return false;
  const [column, qualifier = alias] = columnName(test.lexpr).reverse();
  return column === 'project_id' && qualifier === alias;
};

const readProblems = (node: Node, isSpread: (table: Table) => boolean): string[] => {
  const own = isNode(node.relation) ? [toTable(node.relation)] : [];
  const { tables, conditions } = fromItems(node.fromClause ?? node.usingClause);
  const all = [...conditions, node.whereClause].flatMap(conjuncts);
  return [...own, ...tables]
    .filter(isSpread)
    .filter(({ alias }) => !all.some((condition) => namesProject(condition, alias)))
    .map(({ alias }) => `"${alias}" is read without its own project_id = $n`);
};

/** Whether a row's project is that of one of the tables that are read, each of which has one by itself. */
const isOwnProject = (value: unknown, tables: readonly Table[]): boolean => {
  const [column, alias] = columnName(value).reverse();
  return column === 'project_id' && tables.some((table) => table.alias === alias);
};

/** Citus sends what an INSERT inside WITH takes from it to all nodes, unless the project comes out of a table. */
const insertProblems = (
  node: Node,
  isSpread: (table: Table) => boolean,
  { names: parts, inserts }: With,
): string[] => {
  const table = toTable(node.relation as Node);
  if (!isSpread(table)) return [];
  const columns = find(node.cols, 'ResTarget').map(({ name }) => name);
  const place = columns.indexOf('project_id');
  const source = unwrap(node.selectStmt, 'SelectStmt');
  const lists = find(source?.valuesLists, 'List').map(({ items }) => items as unknown[]);
  const selected = (source?.targetList as unknown[] | undefined)?.map(
    (target) => unwrap(target, 'ResTarget')?.val,
  );
  const rows = lists.length > 0 ? lists : [selected ?? []];
  const { tables } = fromItems(source?.fromClause);
  const hasProject = (row: unknown[]) =>
    isParameter(row[place]) || isOwnProject(row[place], tables.filter(isSpread));
  if (source && lists.length === 0 && find(node.onConflictClause, 'ParamRef').length > 0)
    return [`what ON CONFLICT does to "${table.name}" has a parameter, beside a SELECT`];
  if (place < 0 || !rows.every(hasProject))
    return [`a row of "${table.name}" is made without project_id = $n`];
  const takesFromWith = find(source, 'RangeVar').some(({ relname }) => parts.has(relname));
  const isInside = inserts.has(node);
  if (!takesFromWith || rows.every((row) => isParameter(row[place]) !== isInside)) return [];
  return isInside
    ? [`rows of "${table.name}" take the project from no table, which asks all nodes`]
    : [
        `the rest of WITH goes to the node of "${table.name}" too, which must not change other tables`,
      ];
};

const isTime = (value: unknown) => columnName(value).at(-1)?.endsWith('_at') === true;

/** What Citus takes in an UPDATE, a DELETE and in RETURNING: nothing that depends on a session's settings. */
const mutableParts = (expressions: unknown, { immutableFunctions }: Catalog): string[] => {
  const functions = find(expressions, 'FuncCall').map(({ funcname }) => names(funcname).at(-1));
  return [
    ...functions.filter((name) => !immutableFunctions.has(name ?? '')).map((name) => `${name}()`),
    ...find(expressions, 'SQLValueFunction').map(() => 'the current time or user'),
    ...find(expressions, 'A_Expr')
      .filter(({ name }) => /^[+-]$/.test(names(name).join()))
      .filter(({ lexpr, rexpr }) => isTime(lexpr) || isTime(rexpr))
      .map(() => 'a sum with a timestamptz'),
    ...find(expressions, 'TypeCast')
      .filter(({ arg }) => isTime(arg))
      .map(() => 'a cast of a timestamptz'),
  ];
};

const changeProblems = (
  kind: string,
  node: Node,
  isSpread: (table: Table) => boolean,
  catalog: Catalog,
): string[] => {
  if (!isSpread(toTable(node.relation as Node))) return [];
  const returned = isNode(node.returningClause) ? node.returningClause : node.returningList;
  const changed = kind === 'InsertStmt' ? [] : [node.targetList, node.whereClause];
  const joined = find(returned, 'A_Expr').filter(({ name }) => names(name).join() === '||');
  return [
    ...mutableParts([returned, ...changed], catalog).map((part) => `${part} is not IMMUTABLE`),
    ...joined.map(() => 'RETURNING joins texts'),
  ];
};

/** Citus carries what a part of WITH returns to the next in another format than it reads, where it locks rows. */
const lockProblems = ({ ctes }: Node): string[] => {
  const parts = (ctes as unknown[]).map((part) => unwrap(part, 'CommonTableExpr') ?? {});
  const kinds = ['InsertStmt', 'UpdateStmt', 'DeleteStmt'];
  if (!parts.some(({ ctequery }) => kinds.some((kind) => unwrap(ctequery, kind)))) return [];
  return parts
    .filter(({ ctequery }) => unwrap(ctequery, 'SelectStmt')?.lockingClause)
    .map(({ ctename }) => `"${ctename}" locks rows outside the part of WITH that changes them`);
};

const problemsIn = (kind: string, node: Node, catalog: Catalog, parts: With): string[] => {
  const isSpread = ({ name }: Table) => distributed.has(name) && !parts.names.has(name);
  switch (kind) {
    case 'SelectStmt':
      return readProblems(node, isSpread);
    case 'InsertStmt':
      return [
        ...insertProblems(node, isSpread, parts),
        ...changeProblems(kind, node, isSpread, catalog),
      ];
    case 'UpdateStmt':
    case 'DeleteStmt':
      return [...readProblems(node, isSpread), ...changeProblems(kind, node, isSpread, catalog)];
    case 'withClause':
      return lockProblems(node);
    case 'FuncCall': {
      const [name = '', ...rest] = names(node.funcname);
      return rest.length === 0 && catalog.ownFunctions.has(name)
        ? [`${name}() is called without its schema`]
        : [];
    }
    default:
      return [];
  }
};

/** Why one node of a Citus cluster could not answer the statement, or would refuse it. */
export const clusterProblems = async (text: string, catalog: Catalog): Promise<string[]> => {
  await loadModule();
  if (text.startsWith(acrossProjects)) return [];
  const tree: unknown = parseSync(text);
  const ctes = find(tree, 'CommonTableExpr');
  const parts = {
    names: new Set(ctes.map(({ ctename }) => ctename)),
    inserts: new Set(ctes.map(({ ctequery }) => unwrap(ctequery, 'InsertStmt'))),
  };
  const problems: string[] = [];
  visit(tree, (kind, node) => problems.push(...problemsIn(kind, node, catalog, parts)));
  return problems;
};
