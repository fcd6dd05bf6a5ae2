import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Answer } from '../../api/operation-types.ts';
import { usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { Screen } from '../../parts/screen.tsx';
import { Takes } from '../../parts/takes.tsx';
import { useProjectId } from '../../parts/use-project-id.ts';
import { SecretOnce } from './secret-once.tsx';
import { WebhookForm } from './webhook-form.tsx';
import { WebhookState } from './webhook-state.tsx';
import './webhooks.css';
import { WideTable } from '../../parts/lists/wide-table.tsx';

const refreshMs = 10_000;
const example = {
  url: 'https://example.org/backlot',
  on: ['payment.paid', 'record.created:orders'],
};

/** Addresses that are told what happens in the app. */
export const WebhooksScreen = () => {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<Answer<'setWebhook'>>();
  const pages = usePages('listWebhooks', { params: { projectId } }, { everyMs: refreshMs });
  const path = (name: string) => `/projects/${projectId}/webhooks/${encodeURIComponent(name)}`;
  const open = (name: string) => void navigate({ to: path(name) as string });
  const create = (
    <Takes name="setWebhook">
      <button type="button" className="primary" onClick={() => setCreating(true)}>
        Create webhook
      </button>
    </Takes>
  );
  return (
    <Screen
      title="Webhooks"
      says="What happens in your app is sent to an address of yours, at least once and in order; what is not taken is tried again for a day."
      actions={
        <>
          <ApiCall
            name="setWebhook"
            input={{ params: { projectId, name: 'orders' }, body: example }}
          />
          {create}
        </>
      }
    >
      <Listed
        pages={pages}
        empty={
          <Empty title="No webhooks yet" action={create}>
            Make one where a server of yours should learn that somebody has paid, signed up, or
            written a record. A page needs none: it has live lists.
          </Empty>
        }
      >
        {(webhooks) => (
          <WideTable label="Webhooks" columns={['Name', 'Address', 'Tells', 'State']}>
            {webhooks.map((webhook) => (
              <tr key={webhook.name}>
                <td className="mono named">
                  <Link to={path(webhook.name) as string}>{webhook.name}</Link>
                </td>
                <td className="mono webhook-url">
                  <div className="cut" title={webhook.url}>
                    {webhook.url}
                  </div>
                </td>
                <td className="named">
                  {webhook.on.slice(0, 2).join(', ')}
                  {webhook.on.length > 2 && ` and ${webhook.on.length - 2} more`}
                </td>
                <td>
                  <WebhookState webhook={webhook} />
                </td>
              </tr>
            ))}
          </WideTable>
        )}
      </Listed>
      {isCreating && (
        <WebhookForm
          projectId={projectId}
          onClose={() => setCreating(false)}
          onSaved={(webhook) => {
            setCreating(false);
            if (webhook.secret) setMade(webhook);
            else open(webhook.name);
          }}
        />
      )}
      {made?.secret && (
        <SecretOnce name={made.name} secret={made.secret} onClose={() => open(made.name)} />
      )}
    </Screen>
  );
};
