import type { Database } from '@backlot/database';
import type { Collection } from '../../collections/collections.ts';
import { createStatementNames } from '../../query/prepared/statement-names.ts';
import type { Source } from '../../source.ts';
import { translateWriteError } from '../refusals.ts';
import type { Change, Deletion } from './change.ts';
import { changeSql } from './change-sql.ts';

/** Sends the statement of a change, prepared; its failure is the caller's ApiError where it is theirs. */
export type SendChange = <Row>(change: Change) => Promise<Row[]>;

/** Whether nothing of what its owner may set shows in the statements of its writes. */
const isUsual = ({ access, slots, unique, search, limits }: Collection) =>
  typeof access === 'string' && slots.length === 0 && unique.length === 0 && !search && !limits;

/** Of one caller. */
export interface SentDeletion {
  source: Source;
  /** Records, at most. */
  count: number;
}

const tellDeleted = ({ source, ids }: Deletion, onDeleted: (deletion: SentDeletion) => void) => {
  const sources = [source ?? []].flat();
  for (const one of sources) onDeleted({ source: one, count: ids.length / sources.length });
};

/**
 * @param onDeleted told of deletions, which a transaction around them may still roll back
 * @param onWritten told of the project once the change is committed
 */
export const createSendChange = (
  database: Database,
  onDeleted: (deletion: SentDeletion) => void = () => {},
  onWritten: (projectNumber: number) => void = () => {},
): SendChange => {
  const nameStatement = createStatementNames('records');
  return (change) => {
    const { collection } = change;
    const { text, parameters } = changeSql(change);
    if (change.kind === 'delete') tellDeleted(change, onDeleted);
    const statement = nameStatement(text, isUsual(collection) ? 'usual' : 'special');
    const sent = database.named<never>(statement.name, statement.text, parameters.values);
    return sent
      .then((rows) => {
        database.afterCommit(() => onWritten(collection.projectNumber));
        return rows;
      })
      .catch((error: unknown) => Promise.reject(translateWriteError(error, collection.unique)));
  };
};
