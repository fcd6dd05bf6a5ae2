import { useCall } from '../../api/queries.ts';
import { countWords, formatBytes } from '../../parts/words/numbers.ts';

interface TotalsProps {
  projectId: string;
  /** Of the list: how much there is, and how much there may be. */
  of: { totalFiles: number; totalBytes: number; quotaBytes: number } | undefined;
}

const shownTypes = 8;

/** What the files come to, and which types take most. */
export const Totals = ({ projectId, of }: TotalsProps) => {
  const types = useCall('listFileTypes', { params: { projectId } });
  if (!of || of.totalFiles === 0) return null;
  const { totalFiles, totalBytes, quotaBytes } = of;
  return (
    <section className="stack close" aria-label="Totals">
      <p className="quiet-text">
        {countWords(totalFiles, 'file')}, {formatBytes(totalBytes)} of {formatBytes(quotaBytes)}
      </p>
      <ul className="row types" aria-label="By type">
        {(types.data?.items ?? []).slice(0, shownTypes).map(({ type, files, bytes }) => (
          <li key={type} className="badge" title={countWords(files, 'file')}>
            {type ?? 'all others'} · {files} · {formatBytes(bytes)}
          </li>
        ))}
      </ul>
    </section>
  );
};
