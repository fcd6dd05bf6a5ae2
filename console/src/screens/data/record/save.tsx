import { BacklotError } from '@backlot/client';
import { confirm } from '../../../parts/dialogs/confirm.tsx';
import { formatCount } from '../../../parts/words/numbers.ts';
import { visibleText } from '../../../parts/words/visible-text.ts';
import {
  type Data,
  isSame,
  patchRecord,
  type RecordPlace,
  readField,
  readRecord,
  type Versioned,
} from './place.ts';

/** Fields as they are to be; undefined removes one. */
export type Changes = Readonly<Record<string, unknown>>;

/** What has to be changed for `before` to become `after`. */
export const findChanges = (before: Data, after: Data): Changes =>
  Object.fromEntries([
    ...Object.entries(after).filter(([name, value]) => !isSame(readField(before, name), value)),
    ...Object.keys(before)
      .filter((name) => !Object.hasOwn(after, name))
      .map((name) => [name, undefined]),
  ]);

const toBody = (changes: Changes) => {
  const data = Object.fromEntries(
    Object.entries(changes).filter(([, value]) => value !== undefined),
  );
  const unset = Object.keys(changes).filter((name) => changes[name] === undefined);
  return {
    ...(Object.keys(data).length > 0 && { data }),
    ...(unset.length > 0 && { unset }),
  };
};

const shownCharacters = 300;
/** Others who change the same record at the same moment. */
const mostTries = 5;

const Shown = ({ value }: { value: unknown }) => {
  if (value === undefined) return <span className="faint-text">nothing</span>;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return (
    <bdi>
      {visibleText(text.slice(0, shownCharacters))}
      {text.length > shownCharacters && `… ${formatCount(text.length)} characters`}
    </bdi>
  );
};

const Both = ({ names, theirs, mine }: { names: string[]; theirs: Data; mine: Changes }) => (
  <div className="scroll-x">
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Theirs, as it is now</th>
          <th scope="col">Yours</th>
        </tr>
      </thead>
      <tbody>
        {names.map((name) => (
          <tr key={name} className="both">
            <th scope="row">{name}</th>
            <td>
              <Shown value={readField(theirs, name)} />
            </td>
            <td>
              <Shown value={mine[name]} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const askWhose = (names: string[], theirs: Data, mine: Changes) =>
  confirm({
    title: 'Somebody else has changed this meanwhile',
    says: <Both names={names} theirs={theirs} mine={mine} />,
    action: 'Write yours over it',
    otherwise: 'Keep theirs',
  });

interface Save {
  place: RecordPlace;
  changes: Changes;
  /** The fields as they were seen when the changes were made. */
  seen: Data;
  /** That was seen; without it the record is read first. */
  version?: string;
}

/**
 * Writes the changes into the version that was seen. Where others have changed the same fields since, it shows both
 * and asks; changes of other fields stand beside each other.
 * @returns the record as it is then, whoever's values it has
 * @throws BacklotError
 */
export const saveChanges = async ({ place, changes, seen, version }: Save): Promise<Versioned> => {
  const settle = async (): Promise<{ current: Versioned; isMine: boolean }> => {
    const current = await readRecord(place);
    const clashing = Object.keys(changes).filter(
      (name) =>
        !isSame(readField(current.record, name), readField(seen, name)) &&
        !isSame(readField(current.record, name), changes[name]),
    );
    const isMine = clashing.length === 0 || (await askWhose(clashing, current.record, changes));
    return { current, isMine };
  };
  let expected = version;
  for (let tries = 1; ; tries++) {
    if (expected === undefined) {
      const { current, isMine } = await settle();
      if (!isMine) return current;
      expected = current.version;
    }
    try {
      return await patchRecord(place, toBody(changes), expected);
    } catch (error) {
      if (!(error instanceof BacklotError) || error.status !== 412 || tries >= mostTries)
        throw error;
      expected = undefined;
    }
  }
};
