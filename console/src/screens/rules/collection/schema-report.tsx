import { useEffect, useState } from 'react';
import { useCall } from '../../../api/queries.ts';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { countWords, formatCount } from '../../../parts/words/numbers.ts';

const pollMs = 1000;

/** Which records do not fit, counted while one looks. */
export const SchemaReport = ({ projectId, name }: { projectId: string; name: string }) => {
  const [isRunning, setRunning] = useState(true);
  const report = useCall(
    'getSchemaReport',
    { params: { projectId, collection: name } },
    isRunning ? { everyMs: pollMs } : {},
  );
  const { data } = report;
  useEffect(() => {
    if (data) setRunning(data.state === 'running');
  }, [data]);
  if (report.error) return <Problem error={report.error} again={() => void report.refetch()} />;
  if (!data) return null;
  return (
    <>
      <p role="status">
        {data.state === 'running' ? 'Looking: ' : ''}
        {countWords(data.checked, 'record')} looked at,{' '}
        {data.unfit === 0
          ? 'all of them fit.'
          : `${formatCount(data.unfit)} ${data.unfit === 1 ? 'does' : 'do'} not fit.`}
      </p>
      {data.problems.length > 0 && (
        <WideTable
          label="What does not fit"
          columns={['Where', 'Rule', { label: 'Records', isNumber: true }, 'One of them']}
        >
          {data.problems.map(({ path, rule, count, example }) => (
            <tr key={`${path} ${rule}`}>
              <td className="mono">{path}</td>
              <td>{rule}</td>
              <td className="number">{formatCount(count)}</td>
              <td className="mono">{example}</td>
            </tr>
          ))}
        </WideTable>
      )}
    </>
  );
};
