import { Tabs } from '@base-ui/react/tabs';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useCall } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Problem } from '../../parts/problem.tsx';
import { formatCount, formatCredits } from '../../parts/words/numbers.ts';
import { Share } from '../usage/share.tsx';
import { OwnerLink, Status } from './links.tsx';
import '../usage/usage.css';

const shown = 10;
const periods = { 1: 'today', 7: '7 days', 30: '30 days' } as const;
type Days = keyof typeof periods;

interface ByProps {
  by: 'project' | 'owner';
  days: Days;
}

const By = ({ by, days }: ByProps) => {
  const { data, error, refetch } = useCall(
    'listTopSpenders',
    { query: { by, days } },
    { as: 'operator', everyMs: 30_000 },
  );
  if (error) return <Problem error={error} again={() => void refetch()} />;
  if (!data) return <Loading lines={3} />;
  if (data.items.length === 0)
    return <p className="quiet-text">Nobody has made a priced call in this time.</p>;
  const whole = data.items.reduce((sum, { millicredits }) => sum + millicredits, 0);
  return (
    <WideTable
      label={`Top spenders by ${by}`}
      columns={[
        ...(by === 'project' ? ['Project'] : []),
        'Owner',
        { label: 'Priced calls', isNumber: true },
        { label: 'Credits', isNumber: true },
        { label: 'Share', isHidden: true },
      ]}
    >
      {data.items.slice(0, shown).map(({ projectId, name, status, ownerId, ...sums }) => (
        <tr key={projectId ?? ownerId ?? ''}>
          {projectId !== undefined && (
            <td className="project-name">
              <Link to="/operator/projects/$projectId" params={{ projectId }}>
                {name}
              </Link>{' '}
              {status && status !== 'active' && <Status status={status} />}
            </td>
          )}
          <td>
            <OwnerLink ownerId={ownerId} />
          </td>
          <td className="number">{formatCount(sums.calls)}</td>
          <td className="number">{formatCredits(sums.millicredits)}</td>
          <Share part={sums.millicredits} whole={whole} />
        </tr>
      ))}
    </WideTable>
  );
};

/** Whose priced calls cost most. */
export const TopSpenders = () => {
  const [days, setDays] = useState<Days>(7);
  const [by, setBy] = useState<ByProps['by']>('project');
  return (
    <section className="section" aria-labelledby="top-spenders">
      <div className="spread">
        <h2 id="top-spenders">Top spenders</h2>
        <div className="row">
          <ApiCall name="listTopSpenders" input={{ query: { by, days } }} as="operator" />
          <fieldset className="choices periods" aria-label="Period">
            {Object.entries(periods).map(([period, label]) => (
              <button
                key={period}
                type="button"
                aria-pressed={Number(period) === days}
                onClick={() => setDays(Number(period) as Days)}
              >
                {label}
              </button>
            ))}
          </fieldset>
        </div>
      </div>
      <Tabs.Root
        value={by}
        onValueChange={(next) => setBy(next as ByProps['by'])}
        className="stack close"
      >
        <Tabs.List className="tabs">
          <Tabs.Tab value="project">Projects</Tabs.Tab>
          <Tabs.Tab value="owner">Owners</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value={by}>
          <By by={by} days={days} />
        </Tabs.Panel>
      </Tabs.Root>
    </section>
  );
};
