import { useParams } from '@tanstack/react-router';
import { useCall } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Screen } from '../../parts/screen.tsx';
import { countWords } from '../../parts/words/numbers.ts';
import { ExposedCollection } from './exposed-collection.tsx';
import { byUrgency, type Exposed, openFields } from './report.ts';
import './exposure.css';

const from = '/signed-in/projects/$projectId/exposure';

const firstRecord = (projectId: string) =>
  `curl -s ${location.origin}/api/runtime/${projectId}/db/notes --json '{"data":{"text":"Hello"}}'`;

const Summary = ({ items }: { items: readonly Exposed[] }) => {
  const bad = items.filter((item) => openFields(item).length > 0);
  const read = items.filter(({ strangersRead }) => strangersRead !== 'none');
  if (bad.length > 0)
    return (
      <div className="callout bad">
        <p>
          <strong>
            Strangers can read what looks personal in {countWords(bad.length, 'collection')}.
          </strong>
        </p>
        <p>Anyone who knows the project’s address gets it, without an account.</p>
      </div>
    );
  return (
    <div className={`callout ${read.length > 0 ? 'info' : 'good'}`}>
      {read.length > 0
        ? `Strangers can read ${countWords(read.length, 'collection')}. Nothing that was looked at in them seems personal.`
        : 'Strangers can read nothing here.'}
    </div>
  );
};

/** Who reads what, what it holds, and what stricter rules would change. */
export const ExposureScreen = () => {
  const { projectId } = useParams({ from });
  const input = { params: { projectId } };
  const { data, error, isFetching, refetch } = useCall('getExposure', input);
  return (
    <Screen
      title="Exposure"
      says="Who reads which collection, from the calls of the last 24 hours, and what values in it look like, from a sample. No value is shown."
      actions={
        <>
          <ApiCall name="getExposure" input={input} />
          <button type="button" disabled={isFetching} onClick={() => void refetch()}>
            {isFetching && data ? 'Looking…' : 'Look again'}
          </button>
        </>
      }
    >
      <Problem error={error} again={() => void refetch()} />
      {!data && !error && <Loading lines={6} />}
      {data &&
        (data.items.length === 0 ? (
          <Empty title="No collections yet" snippet={firstRecord(projectId)}>
            With the first record a collection stands here, with who reads it.
          </Empty>
        ) : (
          <>
            <Summary items={data.items} />
            {byUrgency(data.items).map((item) => (
              <ExposedCollection key={item.name} projectId={projectId} item={item} />
            ))}
          </>
        ))}
    </Screen>
  );
};
