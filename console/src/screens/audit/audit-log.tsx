import { useState } from 'react';
import { send } from '../../api/call.ts';
import { usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Field } from '../../parts/field.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { Screen } from '../../parts/screen.tsx';
import { notifyProblem } from '../../parts/toasts.tsx';
import { AuditTable } from './audit-table.tsx';
import { Verification } from './verification.tsx';
import './audit.css';

const filters = {
  projectId: 'Project id',
  action: 'Action',
  target: 'Target begins with',
  actor: 'Account, key or capacity',
  from: 'From',
  to: 'Before',
} as const;
type FilterName = keyof typeof filters;
type Filter = Partial<Record<FilterName, string>>;

const isDate = (name: FilterName) => name === 'from' || name === 'to';

const toQuery = (filter: Filter) =>
  Object.fromEntries(
    Object.entries(filter)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [
        name,
        isDate(name as FilterName) ? new Date(value).toISOString() : value,
      ]),
  );

interface FiltersProps {
  filter: Filter;
  onChange(next: Filter): void;
}

/** On a phone they are folded. */
const Filters = ({ filter, onChange }: FiltersProps) => {
  const [isOpen, setOpen] = useState(false);
  const count = Object.keys(toQuery(filter)).length;
  return (
    <search>
      <button
        type="button"
        className="audit-fold"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {count > 0 ? `Filters (${count})` : 'Filters'}
      </button>
      <div className={`row audit-filters ${isOpen ? 'open' : ''}`}>
        {(Object.keys(filters) as FilterName[]).map((name) => (
          <Field key={name} label={filters[name]}>
            {(props) => (
              <input
                {...props}
                type={isDate(name) ? 'date' : 'text'}
                maxLength={200}
                value={filter[name] ?? ''}
                onChange={({ target }) => onChange({ ...filter, [name]: target.value })}
              />
            )}
          </Field>
        ))}
      </div>
    </search>
  );
};

/** The log with its filters and its files: of the owner who is signed in, or of all for the operator. */
export const AuditLog = ({ as }: { as?: 'operator' }) => {
  const [filter, setFilter] = useState<Filter>({});
  const query = toQuery(filter);
  const input = { query: { limit: 50, ...query } };
  const pages = usePages('listAudit', input, { keepsLast: true, ...(as && { as }) });
  const save = async (format: 'ndjson' | 'csv') => {
    const answer = await send('exportAudit', { query: { ...query, format } }, { as });
    saveFile(`audit.${format}`, await answer.blob(), answer.headers.get('content-type') ?? '');
  };
  return (
    <Screen
      title="Audit log"
      says={as ? 'Every change of the control plane.' : 'Who has changed what in your projects.'}
      actions={
        <>
          <ApiCall name="listAudit" input={input} {...(as && { as })} />
          {(['ndjson', 'csv'] as const).map((format) => (
            <button
              key={format}
              type="button"
              onClick={() => void save(format).catch(notifyProblem)}
            >
              Save as {format.toUpperCase()}
            </button>
          ))}
        </>
      }
    >
      <Verification as={as} />
      <Filters filter={filter} onChange={setFilter} />
      <Listed
        pages={pages}
        empty={
          <Empty title={Object.keys(query).length > 0 ? 'Nothing like this' : 'Nothing yet'}>
            Changes of projects, keys, rules, limits and credits stand here, a second after they
            were made.
          </Empty>
        }
      >
        {(lines) => <AuditTable lines={lines} />}
      </Listed>
    </Screen>
  );
};
