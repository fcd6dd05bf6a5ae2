import { useState, useSyncExternalStore } from 'react';
import type { Item } from '../../../api/operation-types.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Snippet } from '../../../parts/snippet.tsx';
import { formatBytes } from '../../../parts/words/numbers.ts';
import { findExport, startExport, subscribeToExports } from './export-job.ts';
import { ImportSection } from './import-section.tsx';

interface TransferViewProps {
  projectId: string;
  name: string;
  collection: Item<'listCollections'> | undefined;
}

type Format = 'csv' | 'ndjson';

const ExportSection = ({ projectId, name, collection }: TransferViewProps) => {
  const [format, setFormat] = useState<Format>('csv');
  const job = useSyncExternalStore(subscribeToExports, () => findExport(projectId, name));
  const expectedBytes = collection?.sizeBytes ?? 0;
  const start = () =>
    void startExport({ projectId, collection: name, format, where: undefined, expectedBytes });
  return (
    <section className="section" aria-label="Export">
      <div className="spread">
        <h2>Export</h2>
        <ApiCall
          name="exportRecords"
          input={{ project: projectId, params: { collection: name }, query: { format } }}
        />
      </div>
      <p className="quiet-text">
        All records, oldest first. In CSV, texts that a spreadsheet would take for formulas get an
        apostrophe, which an import takes off again.
      </p>
      <div className="row">
        <select
          className="switch"
          aria-label="Format"
          value={format}
          onChange={({ target }) => setFormat(target.value as Format)}
        >
          <option value="csv">CSV</option>
          <option value="ndjson">NDJSON</option>
        </select>
        <button type="button" disabled={job?.state === 'running'} onClick={start}>
          Export
        </button>
        {job && (
          <output>
            {job.state === 'done' ? 'Saved, ' : 'Read so far: '}
            {formatBytes(job.bytes)}
          </output>
        )}
      </div>
      <Problem error={job?.error} again={start} />
      <p className="quiet-text">From a shell:</p>
      <Snippet
        text={`backlot records export ${projectId} ${name} --out ${name}.csv\nbacklot records import ${projectId} ${name} ${name}.csv`}
      />
    </section>
  );
};

export const TransferView = (props: TransferViewProps) => (
  <div className="inside transfer">
    <ImportSection {...props} />
    <ExportSection {...props} />
  </div>
);
