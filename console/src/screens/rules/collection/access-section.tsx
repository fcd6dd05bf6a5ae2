import { useState } from 'react';
import type { Item } from '../../../api/operation-types.ts';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { Takes } from '../../../parts/takes.tsx';
import { useUnsaved } from '../../../parts/use-unsaved.ts';
import { VerdictBadge } from '../verdict-badge.tsx';
import { toMatrix } from '../words/matrix.ts';
import { Who } from '../words/who.tsx';
import {
  type Access,
  type Entry,
  type ListName,
  listTitles,
  newWords,
  type Preset,
  presets,
  type Rules,
  recordWords,
  rulesBehind,
} from '../words/words.ts';
import { FieldRules } from './field-rules.tsx';
import { Review } from './review.tsx';
import { TryRules } from './try-rules.tsx';

interface AccessSectionProps {
  projectId: string;
  collection: Item<'listCollections'>;
  roles: readonly string[];
}

const Matrix = ({ rules, roles }: { rules: Rules; roles: readonly string[] }) => (
  <section className="stack close">
    <h3>Who can do what</h3>
    <WideTable label="Who can do what" columns={['Who', 'Read', 'Create', 'Change', 'Delete']}>
      {toMatrix(rules, roles).map(({ label, read, create, change, delete: remove }) => (
        <tr key={label}>
          <th scope="row">{label}</th>
          {[read, create, change, remove].map((verdict, column) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the columns stay where they are
            <td key={column}>
              <VerdictBadge verdict={verdict} />
            </td>
          ))}
        </tr>
      ))}
    </WideTable>
  </section>
);

/** Of a record on average: what is larger is not fetched for the look of it. */
const mostShownBytes = 32 * 1024;

/** A name where the rules are those of a preset. */
const presetLike = (rules: Rules): Preset | undefined =>
  presets.find((preset) => JSON.stringify(rulesBehind(preset)) === JSON.stringify(rules));

/** The rules as sentences that one edits by choosing; nothing holds before it was looked over and saved. */
export const AccessSection = ({ projectId, collection, roles }: AccessSectionProps) => {
  const [draft, setDraft] = useState<Access>(collection.access);
  const [isReviewing, setReviewing] = useState(false);
  const rules = rulesBehind(draft);
  const isChanged = JSON.stringify(draft) !== JSON.stringify(collection.access);
  useUnsaved(isChanged);
  const set = (next: Rules) => setDraft(presetLike(next) ?? next);
  const setList = (name: ListName, entries: Entry[]) => set({ ...rules, [name]: entries });
  const who = (name: 'read' | 'create' | 'change') => (
    <Who
      title={listTitles[name]}
      entries={rules[name]}
      offered={name === 'create' ? newWords : recordWords}
      roles={roles}
      onChange={(entries) => setList(name, entries)}
    />
  );
  /** Lists that hold as another unless they are stated. */
  const optional = (name: 'delete' | 'count', otherwise: string, begin: readonly Entry[]) => {
    const entries = rules[name];
    const { [name]: _, ...without } = rules;
    if (entries)
      return (
        <Who
          title={listTitles[name]}
          entries={entries}
          offered={recordWords}
          roles={roles}
          onChange={(next) => setList(name, next)}
        >
          <button type="button" className="quiet small" onClick={() => set(without)}>
            {otherwise}
          </button>
        </Who>
      );
    return (
      <div className="who">
        <h3>{listTitles[name]}</h3>
        <div className="row">
          <span className="quiet-text">{otherwise}</span>
          <button
            type="button"
            className="small"
            aria-label={`Say otherwise: ${listTitles[name]}`}
            onClick={() => setList(name, [...begin])}
          >
            Say otherwise
          </button>
        </div>
      </div>
    );
  };
  return (
    <section className="section">
      <Takes name="setCollectionAccess">
        <div className="spread">
          <h2>Access</h2>
          <span className="row preset">
            Begin with
            <select
              aria-label="Begin with"
              value={typeof draft === 'string' ? draft : ''}
              onChange={({ target }) => target.value && setDraft(target.value as Preset)}
            >
              <option value="">rules of its own</option>
              {presets.map((preset) => (
                <option key={preset}>{preset}</option>
              ))}
            </select>
          </span>
        </div>
        <div>
          {who('read')}
          {who('create')}
          {who('change')}
          {optional('delete', 'whoever changes them', rules.change)}
          {optional('count', 'whoever changes them, nobody else', [])}
        </div>
        <FieldRules rules={rules} roles={roles} onChange={set} />
      </Takes>
      <Matrix rules={rules} roles={roles} />
      <TryRules
        projectId={projectId}
        collection={collection.name}
        access={isChanged ? draft : undefined}
        showsRecords={collection.sizeBytes <= mostShownBytes * Math.max(collection.count, 1)}
        roles={roles}
      />
      {isChanged && (
        <div className="spread rules-bar" role="status">
          <span>These rules are not saved yet.</span>
          <span className="row">
            <button type="button" onClick={() => setDraft(collection.access)}>
              Discard
            </button>
            <button type="button" className="primary" onClick={() => setReviewing(true)}>
              Review changes
            </button>
          </span>
        </div>
      )}
      {isReviewing && (
        <Review
          projectId={projectId}
          collection={collection.name}
          before={collection.access}
          after={draft}
          onClose={() => setReviewing(false)}
        />
      )}
    </section>
  );
};
