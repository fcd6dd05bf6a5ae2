import { useState } from 'react';
import { Who } from '../words/who.tsx';
import { type Entry, newWords, type Rules, recordWords } from '../words/words.ts';

interface FieldRulesProps {
  rules: Rules;
  roles: readonly string[];
  onChange(rules: Rules): void;
}

type OfField = NonNullable<Rules['fields']>[string];
type Does = keyof OfField;

const titles: Record<Does, (field: string) => string> = {
  read: (field) => `Who sees ${field}`,
  create: (field) => `Who gives ${field} in a new one`,
  change: (field) => `Who changes ${field}`,
};
const otherwise: Record<Does, string> = {
  read: 'Limit who sees it',
  create: 'Limit who gives it',
  change: 'Limit who changes it',
};

/** Fields that not everybody sees or changes who may do so with the record. */
export const FieldRules = ({ rules, roles, onChange }: FieldRulesProps) => {
  const [name, setName] = useState('');
  const { fields = {}, ...lists } = rules;
  const set = (field: string, of: OfField | undefined) => {
    const { [field]: _, ...others } = fields;
    const next = of && Object.keys(of).length > 0 ? { ...fields, [field]: of } : others;
    onChange(Object.keys(next).length > 0 ? { ...lists, fields: next } : lists);
  };
  const line = (field: string, of: OfField, does: Does) => {
    const entries = of[does];
    const { [does]: _, ...without } = of;
    return (
      entries && (
        <Who
          key={does}
          title={titles[does](field)}
          entries={entries}
          offered={does === 'create' ? newWords : recordWords}
          roles={roles}
          onChange={(next: Entry[]) => set(field, { ...of, [does]: next })}
        >
          <button type="button" className="quiet small" onClick={() => set(field, without)}>
            as the record
          </button>
        </Who>
      )
    );
  };
  return (
    <section className="stack close">
      <h3>Fields</h3>
      {Object.entries(fields).map(([field, of]) => (
        <div key={field}>
          {(['read', 'create', 'change'] as const).map((does) => line(field, of, does))}
          <div className="row">
            {(['read', 'create', 'change'] as const)
              .filter((does) => !of[does])
              .map((does) => (
                <button
                  key={does}
                  type="button"
                  className="quiet small"
                  aria-label={`${otherwise[does]}: ${field}`}
                  onClick={() => set(field, { ...of, [does]: [] })}
                >
                  {otherwise[does]}
                </button>
              ))}
          </div>
        </div>
      ))}
      <form
        className="row field-limit"
        onSubmit={(event) => {
          event.preventDefault();
          set(name, { read: ['owner'] });
          setName('');
        }}
      >
        <input
          aria-label="Field to limit"
          placeholder="price"
          value={name}
          maxLength={100}
          required
          onChange={({ target }) => setName(target.value)}
        />
        <button type="submit" disabled={name in fields}>
          Limit a field
        </button>
        <span className="quiet-text">
          Other fields are seen and changed by whoever may do so with the record.
        </span>
      </form>
    </section>
  );
};
