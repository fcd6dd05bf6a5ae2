import { Link } from '@tanstack/react-router';
import { Takes } from '../../parts/takes.tsx';
import { makeStricter } from './made-stricter.ts';
import {
  countsWords,
  type Exposed,
  effectWords,
  kindWords,
  openFields,
  ruleWords,
} from './report.ts';

interface ExposedCollectionProps {
  projectId: string;
  item: Exposed;
}

const strangers = {
  all: { tone: 'warn', words: 'strangers read all of it' },
  some: { tone: 'warn', words: 'strangers read some of it' },
  none: { tone: 'good', words: 'strangers read nothing' },
} as const;

const Reads = ({ item: { reads, writes, refused } }: Pick<ExposedCollectionProps, 'item'>) => (
  <dl className="facts">
    <dt>Reads of the last day</dt>
    <dd>{countsWords(reads)}</dd>
    <dt>Writes</dt>
    <dd>{countsWords(writes)}</dd>
    <dt>Refused by rules</dt>
    <dd>{countsWords(refused)}</dd>
  </dl>
);

const Fields = ({ item: { fields, sampled } }: Pick<ExposedCollectionProps, 'item'>) => {
  if (sampled === 0) return <p className="quiet-text">No record was looked at.</p>;
  if (fields.length === 0)
    return (
      <p className="quiet-text">
        Nothing in {sampled === 1 ? 'its record' : `a sample of ${sampled} records`} looks personal.
      </p>
    );
  return (
    <ul className="exposed-fields">
      {fields.map(({ field, kind, isOpen }) => (
        <li key={`${field} ${kind}`}>
          <code>
            <bdi>{field}</bdi>
          </code>{' '}
          holds {kindWords[kind]}{' '}
          <span className={`badge ${isOpen ? 'bad' : 'good'}`}>
            {isOpen ? 'strangers read it' : 'closed to strangers'}
          </span>
        </li>
      ))}
    </ul>
  );
};

/** One collection: who reads it, what it holds, and what would be stricter. */
export const ExposedCollection = ({ projectId, item }: ExposedCollectionProps) => {
  const { tone, words } = strangers[item.strangersRead];
  const isBad = openFields(item).length > 0;
  return (
    <section className="card" aria-label={item.name}>
      <div className="spread">
        <h2 className="exposed-name">
          <Link to={`/projects/${projectId}/data/${encodeURIComponent(item.name)}` as string}>
            {item.name}
          </Link>
        </h2>
        <div className="row">
          <span className="badge">
            {typeof item.access === 'string' ? item.access : 'rules of its own'}
          </span>
          <span className={`badge ${isBad ? 'bad' : tone}`}>{words}</span>
        </div>
      </div>
      <div className="exposed-body">
        <Fields item={item} />
        <Reads item={item} />
      </div>
      {item.stricter.length > 0 && (
        <ul className="stricter">
          {item.stricter.map((stricter) => (
            <li key={stricter.rule}>
              <div>
                <strong>{ruleWords[stricter.rule].title}</strong>
                <div className="quiet-text">{effectWords(stricter)}.</div>
              </div>
              <Takes name="setCollectionAccess">
                <button
                  type="button"
                  className="small"
                  onClick={() => void makeStricter(projectId, item.name, stricter)}
                >
                  {ruleWords[stricter.rule].action}…
                </button>
              </Takes>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
};
