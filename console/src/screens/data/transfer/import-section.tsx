import { useState, useSyncExternalStore } from 'react';
import { Field } from '../../../parts/field.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Takes } from '../../../parts/takes.tsx';
import { countWords, formatBytes, formatCount } from '../../../parts/words/numbers.ts';
import { visibleText } from '../../../parts/words/visible-text.ts';
import {
  findImport,
  forgetImport,
  goOn,
  type ImportJob,
  startImport,
  stopImport,
  subscribeToImports,
} from './import-job.ts';

interface ImportSectionProps {
  projectId: string;
  name: string;
}

const stateWords: Readonly<Record<ImportJob['state'], string>> = {
  running: 'Importing',
  stopped: 'Stopped',
  left: 'It was left when the page was closed',
  failed: 'It has broken off',
  done: 'Imported',
};

const Job = ({ job, onFile }: { job: ImportJob; onFile(file: File): void }) => {
  const { state, sentBytes, fileBytes, created, skipped, failed, failedCount } = job;
  const share = fileBytes === 0 ? 1 : state === 'done' ? 1 : sentBytes / fileBytes;
  const percent = Math.floor(share * 100);
  const canGoOn = state === 'left' || state === 'stopped' || state === 'failed';
  return (
    <div className="card">
      <div className="spread">
        <strong>
          {stateWords[state]}: <bdi>{visibleText(job.fileName)}</bdi>
        </strong>
        <span className="quiet-text">
          {percent} % of {formatBytes(fileBytes)}
        </span>
      </div>
      <div
        className="progress"
        role="progressbar"
        aria-label="Import"
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <span style={{ width: `${share * 100}%` }} />
      </div>
      <output>
        {countWords(created, 'record')} created
        {skipped > 0 && `, ${formatCount(skipped)} were there already`}
        {failedCount > 0 && `, ${countWords(failedCount, 'line has', 'lines have')} failed`}.
        {state === 'running' && ' You may look at other screens meanwhile.'}
      </output>
      {job.error && <Problem error={new Error(job.error)} />}
      {failed.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the arrows
        <section className="scroll-x failed-lines" tabIndex={0} aria-label="Lines that have failed">
          <table className="table">
            <thead>
              <tr>
                <th scope="col" className="number">
                  Line
                </th>
                <th scope="col">What is wrong</th>
              </tr>
            </thead>
            <tbody>
              {failed.map(({ line, error }) => (
                <tr key={line}>
                  <td className="number">{formatCount(line)}</td>
                  <td className="wraps">{visibleText(error)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {canGoOn && (
        <Field
          label={`Choose ${job.fileName} again to go on`}
          hint="Lines that were imported are not imported twice."
        >
          {(props) => (
            <input
              {...props}
              type="file"
              onChange={({ target }) => target.files?.[0] && onFile(target.files[0])}
            />
          )}
        </Field>
      )}
      <div className="row">
        {state === 'running' ? (
          <button type="button" onClick={() => stopImport(job)}>
            Stop
          </button>
        ) : (
          <button type="button" onClick={() => forgetImport(job)}>
            {state === 'done' ? 'Import another file' : 'Forget this import'}
          </button>
        )}
      </div>
    </div>
  );
};

/** Records from a file. The import goes on while one looks at other screens, and is found again here. */
export const ImportSection = ({ projectId, name }: ImportSectionProps) => {
  const job = useSyncExternalStore(subscribeToImports, () => findImport(projectId, name));
  const [file, setFile] = useState<File | null>(null);
  const [dropOwners, setDropOwners] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  return (
    <section className="section" aria-label="Import">
      <h2>Import</h2>
      {job ? (
        <>
          <Problem error={error} />
          <Job
            job={job}
            onFile={(again) => {
              setError(null);
              try {
                goOn(job, again);
              } catch (failure) {
                setError(failure as Error);
              }
            }}
          />
        </>
      ) : (
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (file) startImport({ projectId, collection: name }, file, dropOwners);
          }}
        >
          <Takes name="importRecords">
            <Field
              label="File"
              hint="CSV (.csv), whose first line names the fields, or NDJSON: a record as JSON on each line. Up to 1 GB."
            >
              {(props) => (
                <input
                  {...props}
                  type="file"
                  accept=".csv,.tsv,.ndjson,.jsonl,.json,.txt"
                  required
                  onChange={({ target }) => setFile(target.files?.[0] ?? null)}
                />
              )}
            </Field>
            <label className="check">
              <input
                type="checkbox"
                checked={dropOwners}
                onChange={({ target }) => setDropOwners(target.checked)}
              />
              Records of owners who are no users here belong to nobody
            </label>
            <div>
              <button type="submit" className="primary" disabled={!file}>
                Import
              </button>
            </div>
          </Takes>
        </form>
      )}
    </section>
  );
};
