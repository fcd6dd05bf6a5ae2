import { useCall } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Time } from '../../parts/words/time.tsx';
import { LastBackup } from './last-backup.tsx';

const everyMs = 5000;

const labels: Readonly<Record<string, string>> = {
  postgresql: 'PostgreSQL',
  redis: 'Redis',
  rabbitmq: 'RabbitMQ',
  files: 'Files',
  model: 'AI model',
  mailer: 'Mail provider',
  secrets: 'Secrets of projects',
  backups: 'Back-up',
  signing_keys: 'Keys that sign tokens',
};
const labelOfName = (name: string) => labels[name] ?? `Service ${name}`;

const states = {
  missing: { tone: 'bad', words: 'does not work', all: 'Some calls fail.' },
  degraded: {
    tone: 'warn',
    words: 'works less well',
    all: 'All calls are served; something needs a look.',
  },
  works: { tone: 'good', words: 'works', all: 'Everything that the platform needs works.' },
} as const;

interface Dependency {
  name: string;
  state: keyof typeof states;
  since: string;
  reason?: string | undefined;
  affects?: string | undefined;
  seenBy: string[];
}

/** What is amiss: since when, who finds it so, and what of it people notice. */
const Amiss = ({ name, state, since, reason, affects, seenBy }: Dependency) => (
  <li className={`callout ${states[state].tone}`}>
    <div className="spread">
      <strong>
        {labelOfName(name)} {reason === 'overdue' ? 'is overdue' : states[state].words}
      </strong>
      <span>
        since <Time at={since} />
      </span>
    </div>
    <p>{affects}</p>
    <p className="quiet-text">
      {reason !== undefined && reason !== 'overdue' && <>Reason: {reason.replaceAll('_', ' ')}. </>}
      Found by {seenBy.join(', ')}.
    </p>
  </li>
);

/** Everything that the platform needs, the worst first; it looks again every few seconds. */
export const Health = () => {
  const { data, error } = useCall('getHealth', {}, { as: 'operator', everyMs });
  const dependencies: readonly Dependency[] = data?.dependencies ?? [];
  const amiss = dependencies.filter(({ state }) => state !== 'works');
  const working = dependencies.filter(({ state }) => state === 'works');
  return (
    <section className="section" aria-labelledby="health">
      <div className="spread">
        <h2 id="health">Health</h2>
        <ApiCall name="getHealth" input={{}} as="operator" />
      </div>
      {error && (
        <div className="callout bad" role="alert">
          The gateway does not answer. This page looks again every few seconds.
        </div>
      )}
      {!data && !error && <Loading />}
      {data && (
        <>
          <div className={`callout ${states[data.state].tone}`} role="status">
            {states[data.state].all}
          </div>
          {amiss.length > 0 && (
            <ul className="dependencies">
              {amiss.map((one) => (
                <Amiss key={one.name} {...one} />
              ))}
            </ul>
          )}
          <ul className="row parts">
            {working.map(({ name, since }) => (
              <li key={name} className="badge good" title={`works since ${since}`}>
                {labelOfName(name)} works
              </li>
            ))}
          </ul>
          <LastBackup />
        </>
      )}
    </section>
  );
};
