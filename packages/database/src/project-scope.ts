import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';

/**
 * Whose rows a statement reaches where a table has row-level security: the value of PostgreSQL's setting
 * `backlot.project`. A project's number, `all`, or nothing at all.
 */
export type ProjectScope = '' | 'all' | `${number}`;

/** What a connection begins with, whatever the database or the role has as its default. */
export const unscoped = { 'backlot.project': '' };
/** For connections of a migration, which must see what it changes. */
export const scopedToAll = { 'backlot.project': 'all' };

const settingFor = (scope: ProjectScope) => `backlot.project = '${scope}'`;

/** Resolves once it is the caller's turn to have a connection; what it answers ends the turn. */
export type TakeTurn = () => Promise<() => void>;

/** Hears of each statement as it leaves; what it answers is called when the statement's answer is there. */
export interface StatementMeter {
  statement(): () => void;
}

export interface ProjectScopes {
  current(): ProjectScope;
  /** Of the innermost scope that has one; undefined where connections are had as they come. */
  turn(): TakeTurn | undefined;
  inProject<T>(projectNumber: number, work: () => Promise<T>): Promise<T>;
  /** Of the innermost scope that has one. */
  meter(): StatementMeter | undefined;
  inTurn<T>(takeTurn: TakeTurn, work: () => Promise<T>, meter?: StatementMeter): Promise<T>;
  acrossProjects<T>(work: () => Promise<T>): Promise<T>;
}

export const createProjectScopes = (): ProjectScopes => {
  const ambient = new AsyncLocalStorage<{
    scope: ProjectScope;
    takeTurn: TakeTurn | undefined;
    meter: StatementMeter | undefined;
  }>();
  const current = () => ambient.getStore()?.scope ?? '';
  const turn = () => ambient.getStore()?.takeTurn;
  const meter = () => ambient.getStore()?.meter;
  return {
    current,
    turn,
    meter,
    async inProject(projectNumber, work) {
      if (!Number.isSafeInteger(projectNumber) || projectNumber < 0)
        throw new RangeError('A project has a whole number.');
      return await ambient.run(
        { scope: `${projectNumber}`, takeTurn: turn(), meter: meter() },
        work,
      );
    },
    inTurn: (takeTurn, work, itsMeter = meter()) =>
      ambient.run({ scope: current(), takeTurn, meter: itsMeter }, work),
    acrossProjects: (work) => ambient.run({ scope: 'all', takeTurn: turn(), meter: meter() }, work),
  };
};

/** What was last sent on a connection, for the time outside of its transactions. */
interface SentScope {
  scope: ProjectScope;
  /** Until PostgreSQL has taken it; rejects where it has not. */
  underWay?: Promise<unknown> | undefined;
}

const begun: SentScope = { scope: '' };
const sentScopes = new WeakMap<pg.ClientBase, SentScope>();

/**
 * Has what is sent next on the connection reach the scope's rows; one round trip where its last statement
 * was for another scope. Who sends more before PostgreSQL has taken it may use no answer that comes before.
 * @returns undefined where the connection is there already; rejects with pg's error, after which the
 * connection must not be used
 */
export const switchScope = (
  client: pg.ClientBase,
  scope: ProjectScope,
): Promise<unknown> | undefined => {
  const last = sentScopes.get(client) ?? begun;
  if (last.scope === scope) return last.underWay;
  const sent: SentScope = { scope };
  sent.underWay = client.query(`SET ${settingFor(scope)}`).then(() => {
    sent.underWay = undefined;
  });
  sentScopes.set(client, sent);
  return sent.underWay;
};

/**
 * Begins a transaction in the scope, in one round trip; the connection's own scope comes back with its end.
 * @param setting a further one, which ends with it too
 */
export const beginInScope = async (
  client: pg.ClientBase,
  scope: ProjectScope,
  setting?: string,
): Promise<void> => {
  const isThere = (sentScopes.get(client) ?? begun).scope === scope;
  const settings = [isThere ? undefined : settingFor(scope), setting];
  const local = settings.map((one) => (one === undefined ? '' : `; SET LOCAL ${one}`));
  await client.query(`BEGIN${local.join('')}`);
};

/** Inside a transaction: for what is sent next on the connection, until the transaction ends. */
export const switchScopeInTransaction = (
  client: pg.ClientBase,
  scope: ProjectScope,
): Promise<unknown> => client.query(`SET LOCAL ${settingFor(scope)}`);
