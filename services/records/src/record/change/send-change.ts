import type { Database } from '@backlot/database';
import type { Collection } from '../../collections/collections.ts';
import { createStatementNames } from '../../query/prepared/statement-names.ts';
import { translateWriteError } from '../refusals.ts';
import type { Change } from './change.ts';
import { changeSql } from './change-sql.ts';

/** Sends the statement of a change, prepared; its failure is the caller's ApiError where it is theirs. */
export type SendChange = <Row>(change: Change) => Promise<Row[]>;

/** Whether nothing of what its owner may set shows in the statements of its writes. */
const isUsual = ({ access, slots, unique, search }: Collection) =>
  typeof access === 'string' && slots.length === 0 && unique.length === 0 && !search;

export const createSendChange = (database: Database): SendChange => {
  const nameStatement = createStatementNames('records');
  return (change) => {
    const { collection } = change;
    const { text, parameters } = changeSql(change);
    const statement = nameStatement(text, isUsual(collection) ? 'usual' : 'special');
    return database
      .named<never>(statement.name, statement.text, parameters.values)
      .catch((error: unknown) => Promise.reject(translateWriteError(error, collection.unique)));
  };
};
