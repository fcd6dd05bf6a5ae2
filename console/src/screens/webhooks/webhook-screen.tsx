import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Answer } from '../../api/operation-types.ts';
import { useCall, useChange } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { MoreMenu } from '../../parts/menu.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Screen } from '../../parts/screen.tsx';
import { Takes } from '../../parts/takes.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { useProjectId } from '../../parts/use-project-id.ts';
import { countWords } from '../../parts/words/numbers.ts';
import { inOrder } from '../../parts/words/visible-text.ts';
import { Deliveries } from './deliveries.tsx';
import { ReplaySince } from './replay-since.tsx';
import { SecretOnce } from './secret-once.tsx';
import { WebhookForm } from './webhook-form.tsx';
import { WebhookState } from './webhook-state.tsx';
import './webhooks.css';

type Webhook = Answer<'getWebhook'>;
type Dialog = 'change' | 'replay' | undefined;

const refreshMs = 5000;
const changes = ['listWebhooks', 'getWebhook', 'listWebhookDeliveries'] as const;

const Off = ({ projectId, webhook }: { projectId: string; webhook: Webhook }) => {
  const set = useChange('setWebhook', { changes });
  const { name, url, on, where, offReason } = webhook;
  const switchOn = async () => {
    await set.mutateAsync({
      params: { projectId, name },
      body: { url, on, ...(where && { where }) },
    });
    notify(`${name} is on: what waited goes on`);
  };
  return (
    <div className="callout bad">
      <p>
        <strong>It is off: nothing is told.</strong> {offReason}
      </p>
      <p>What waits is told once it is on again; what happens meanwhile is not.</p>
      <div className="row problem-foot">
        <Takes name="setWebhook">
          <button
            type="button"
            className="primary"
            disabled={set.isPending}
            onClick={() => void switchOn().catch(notifyProblem)}
          >
            Switch on again
          </button>
        </Takes>
      </div>
    </div>
  );
};

const Details = ({ projectId, webhook }: { projectId: string; webhook: Webhook }) => {
  const { name, url, on, where, state, parkedAt } = webhook;
  return (
    <>
      {state === 'off' && <Off projectId={projectId} webhook={webhook} />}
      {parkedAt && state === 'on' && (
        <div className="callout warn">
          An event was given up after eight tries while others were taken. It stands below as “given
          up”: send it again once its cause is mended.
        </div>
      )}
      <dl className="facts">
        <dt>State</dt>
        <dd>
          <WebhookState webhook={webhook} />
        </dd>
        <dt>Address</dt>
        <dd className="mono">{url}</dd>
        <dt>Tells</dt>
        <dd className="mono">{on.join(', ')}</dd>
        {where && (
          <>
            <dt>Only records with</dt>
            <dd className="mono">{inOrder(JSON.stringify(where))}</dd>
          </>
        )}
      </dl>
      <Deliveries projectId={projectId} name={name} />
    </>
  );
};

/** One webhook, and what it has sent. */
export const WebhookScreen = () => {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const { name = '' } = useParams({ strict: false }) as { name?: string };
  const params = { projectId, name };
  const [dialog, setDialog] = useState<Dialog>();
  const [secret, setSecret] = useState<string>();
  const webhook = useCall('getWebhook', { params }, { everyMs: refreshMs });
  const renew = useChange('renewWebhookSecret');
  const remove = useChange('deleteWebhook', { changes: ['listWebhooks'] });
  const close = () => setDialog(undefined);
  const renewIt = async () => {
    const isSure = await confirm({
      title: `Make a new secret for ${name}?`,
      says: 'It is shown once. For a day what is sent is signed with the old one too: put the new one in place meanwhile.',
      action: 'Make new secret',
    });
    if (isSure) setSecret((await renew.mutateAsync({ params })).secret);
  };
  const removeIt = async () => {
    const isSure = await confirm({
      title: `Delete ${name}?`,
      says: `Nothing is told to its address any more. Its log and ${countWords(webhook.data?.waiting ?? 0, 'event')} that wait are gone with it, and can not be brought back.`,
      action: 'Delete webhook',
      isDangerous: true,
    });
    if (!isSure) return;
    await remove.mutateAsync({ params });
    notify(`${name} is deleted`);
    await navigate({ to: `/projects/${projectId}/webhooks` as string });
  };
  return (
    <Screen
      title={name}
      says="A webhook: what it has sent, and what is to be sent."
      actions={
        <>
          <ApiCall name="listWebhookDeliveries" input={{ params }} />
          <Takes name="setWebhook">
            <button type="button" disabled={!webhook.data} onClick={() => setDialog('change')}>
              Change…
            </button>
          </Takes>
          <MoreMenu
            label={`More of ${name}`}
            choices={[
              {
                label: 'Send again since…',
                onSelect: () => setDialog('replay'),
                takes: 'replayWebhook',
              },
              {
                label: 'New secret…',
                onSelect: () => void renewIt().catch(notifyProblem),
                takes: 'renewWebhookSecret',
              },
              {
                label: 'Delete webhook…',
                takes: 'deleteWebhook',
                isDangerous: true,
                onSelect: () => void removeIt().catch(notifyProblem),
              },
            ]}
          />
        </>
      }
    >
      {webhook.data ? (
        <Details projectId={projectId} webhook={webhook.data} />
      ) : webhook.error ? (
        <Problem error={webhook.error} again={() => void webhook.refetch()} />
      ) : (
        <Loading />
      )}
      {dialog === 'change' && webhook.data && (
        <WebhookForm
          projectId={projectId}
          webhook={webhook.data}
          onClose={close}
          onSaved={() => {
            close();
            notify(`${name} is saved`);
          }}
        />
      )}
      {dialog === 'replay' && <ReplaySince projectId={projectId} name={name} onClose={close} />}
      {secret && <SecretOnce name={name} secret={secret} onClose={() => setSecret(undefined)} />}
    </Screen>
  );
};
