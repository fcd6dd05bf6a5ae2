import { useEffect, useRef } from 'react';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Takes } from '../../../parts/takes.tsx';
import { viewAs } from '../pages/source.ts';
import { RecordForm, type RecordFormProps } from './record-form.tsx';
import { useRecord } from './use-record.ts';

interface RecordPanelProps extends Omit<RecordFormProps, 'loaded'> {
  onClose(): void;
  onDelete(): void;
}

/** The id in the address of a record that is not there yet. */
export const newRecord = 'new';

/** One record beside the grid: its fields, all of it as JSON, and its past. Or a new one. */
export const RecordPanel = (props: RecordPanelProps) => {
  const { place, as } = props;
  const isNew = place.id === newRecord;
  const { data, error, refetch } = useRecord(place, as, !isNew);
  const title = isNew ? 'New record' : 'Record';
  const heading = useRef<HTMLHeadingElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another record was opened
  useEffect(() => heading.current?.focus(), [place.id]);
  return (
    <aside
      className="side-panel"
      aria-label={title}
      onKeyDown={(event) => {
        // Keys of menus and dialogs that it has opened come by here too.
        const isInside = event.currentTarget.contains(event.target as Node);
        if (event.key === 'Escape' && isInside) props.onClose();
      }}
    >
      <header className="spread">
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <div className="row">
          {isNew ? (
            <ApiCall
              name="createRecord"
              input={{
                project: place.projectId,
                params: { collection: place.collection },
                body: { data: {} },
              }}
            />
          ) : (
            <ApiCall
              name="getRecord"
              input={{
                project: place.projectId,
                params: { collection: place.collection, id: place.id },
              }}
              headers={viewAs(as).headers}
            />
          )}
          {!isNew && as === undefined && (
            <Takes name="deleteRecords">
              <button type="button" className="quiet" onClick={props.onDelete}>
                Delete…
              </button>
            </Takes>
          )}
          <button type="button" className="quiet icon" aria-label="Close" onClick={props.onClose}>
            ×
          </button>
        </div>
      </header>
      <Problem error={error} again={() => void refetch()} />
      {!isNew && !data && !error && <Loading />}
      {(isNew || data) && <RecordForm key={place.id} {...props} loaded={data} />}
    </aside>
  );
};
