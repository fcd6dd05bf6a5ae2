import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Item } from '../../../api/operation-types.ts';
import { usePages } from '../../../api/queries.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Empty } from '../../../parts/lists/empty.tsx';
import { Listed } from '../../../parts/lists/listed.tsx';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { Screen } from '../../../parts/screen.tsx';
import { Time } from '../../../parts/words/time.tsx';
import { OwnerLink } from '../links.tsx';
import { OneFinding } from './one-finding.tsx';
import { summarize } from './words.ts';
import '../operator.css';

type Finding = Item<'listFindings'>;

const State = ({ finding }: { finding: Finding }) => (
  <span className="row">
    {finding.isSuspended && <span className="badge bad">suspended</span>}
    {finding.toldAt !== null && <span className="badge">owner told</span>}
  </span>
);

/** What looks like abuse, or is open to strangers, over all projects. */
export const FindingsScreen = () => {
  const [shownId, setShownId] = useState<string>();
  const [dismissed, setDismissed] = useState(false);
  const input = { query: { limit: 50, dismissed: dismissed ? 'true' : 'false' } } as const;
  const pages = usePages('listFindings', input, { as: 'operator' });
  const shown = pages.items?.find(({ id }) => id === shownId);
  return (
    <Screen
      title="Findings"
      says="What looks like abuse, or is open to strangers, over all projects, newest first. Nothing of it refuses a call: you decide."
      actions={<ApiCall name="listFindings" input={input} as="operator" />}
    >
      <fieldset className="choices periods" aria-label="Which">
        {[false, true].map((value) => (
          <button
            key={String(value)}
            type="button"
            aria-pressed={dismissed === value}
            onClick={() => setDismissed(value)}
          >
            {value ? 'Dismissed' : 'Open'}
          </button>
        ))}
      </fieldset>
      <Listed
        pages={pages}
        empty={
          <Empty title={dismissed ? 'Nothing is dismissed' : 'Nothing was found'}>
            {dismissed
              ? 'What you leave out of the list for a while stands here.'
              : 'Bursts, open personal data and signs of phishing or junk stand here.'}
          </Empty>
        }
      >
        {(findings) => (
          <WideTable
            label="Findings"
            columns={[
              'Finding',
              'Project',
              'Owner',
              'Last seen',
              { label: 'State', isHidden: true },
            ]}
          >
            {findings.map((finding) => (
              <tr key={finding.id}>
                <td className="named">
                  <button type="button" className="link" onClick={() => setShownId(finding.id)}>
                    {summarize(finding)}
                  </button>
                </td>
                <td className="operator-name">
                  <Link
                    to="/operator/projects/$projectId"
                    params={{ projectId: finding.projectId }}
                  >
                    {finding.projectName}
                  </Link>
                </td>
                <td>
                  <OwnerLink ownerId={finding.ownerId} />
                </td>
                <td>
                  <Time at={finding.lastSeen} />
                </td>
                <td>
                  <State finding={finding} />
                </td>
              </tr>
            ))}
          </WideTable>
        )}
      </Listed>
      {shown && <OneFinding finding={shown} onClose={() => setShownId(undefined)} />}
    </Screen>
  );
};
