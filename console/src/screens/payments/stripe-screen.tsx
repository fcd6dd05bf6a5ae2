import type { FormEvent } from 'react';
import { useCall, useChange } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { Field } from '../../parts/field.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Screen } from '../../parts/screen.tsx';
import { Snippet } from '../../parts/snippet.tsx';
import { Takes } from '../../parts/takes.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { useProjectId } from '../../parts/use-project-id.ts';
import { Time } from '../../parts/words/time.tsx';
import { PaymentTabs } from './payment-tabs.tsx';
import './payments.css';

const changes = ['getStripeSecret'] as const;

const KeyForm = ({ projectId, isReplacing }: { projectId: string; isReplacing: boolean }) => {
  const set = useChange('setStripeSecret', { changes });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const fields = new FormData(form);
    const webhookSecret = String(fields.get('webhookSecret')).trim();
    set.mutate(
      {
        params: { projectId },
        body: {
          secretKey: String(fields.get('secretKey')).trim(),
          ...(webhookSecret && { webhookSecret }),
        },
      },
      {
        onSuccess: () => {
          form.reset();
          notify('Stripe is connected');
        },
      },
    );
  };
  return (
    <Takes name="setStripeSecret">
      <form className="stack stripe-keys" onSubmit={submit}>
        <h2>{isReplacing ? 'Replace the keys' : 'Connect Stripe'}</h2>
        <Field
          label="Secret or restricted key"
          hint="From Stripe: Developers, API keys. It is checked there, then sealed: nothing shows it again."
        >
          {(props) => (
            <input
              {...props}
              name="secretKey"
              type="password"
              className="code"
              autoComplete="off"
              placeholder="sk_test_… or sk_live_…"
              maxLength={255}
              required
            />
          )}
        </Field>
        <Field
          label="Signing secret of the webhook"
          hint="From Stripe: Developers, Webhooks, an endpoint at the address below. Left empty, the one that is set stays."
        >
          {(props) => (
            <input
              {...props}
              name="webhookSecret"
              type="password"
              className="code"
              autoComplete="off"
              placeholder="whsec_…"
              maxLength={255}
            />
          )}
        </Field>
        <Snippet text={`${location.origin}/api/runtime/${projectId}/payments/webhook`} />
        {isReplacing && (
          <p className="quiet-text">
            Keys of the same mode leave open checkouts open. From test to live, or back, they are
            closed.
          </p>
        )}
        <Problem error={set.error} />
        <div className="row">
          <button type="submit" className="primary" disabled={set.isPending}>
            {isReplacing ? 'Replace keys' : 'Connect Stripe'}
          </button>
        </div>
      </form>
    </Takes>
  );
};

const OnTestCheckout = () => (
  <div className="callout warn">
    <p>
      There are no keys of Stripe: payers come to the test checkout, a page on which no money moves.
    </p>
  </div>
);

const Closed = ({ projectId }: { projectId: string }) => {
  const set = useChange('setStripeSecret', { changes });
  const choose = async () => {
    await set.mutateAsync({ params: { projectId }, body: { testCheckout: true } });
    notify('Payers come to the test checkout');
  };
  return (
    <div className="callout bad">
      <p>
        Checkouts are closed: nobody can pay. There are no keys of Stripe, and the test checkout, a
        page on which no money moves, is not in use.
      </p>
      <div className="row problem-foot">
        <Takes name="setStripeSecret">
          <button
            type="button"
            className="small"
            disabled={set.isPending}
            onClick={() => void choose().catch(notifyProblem)}
          >
            Use the test checkout
          </button>
        </Takes>
      </div>
    </div>
  );
};

/** Keys of the owner's own Stripe account. */
export const StripeScreen = () => {
  const projectId = useProjectId();
  const params = { projectId };
  const secret = useCall('getStripeSecret', { params });
  const remove = useChange('deleteStripeSecret', { changes });
  const forget = async () => {
    const isSure = await confirm({
      title: 'Disconnect Stripe?',
      says: 'The keys are forgotten, and checkouts are closed until you set others or choose the test checkout. Payments that are there stay as they are.',
      action: 'Disconnect Stripe',
      isDangerous: true,
    });
    if (!isSure) return;
    await remove.mutateAsync({ params });
    notify('Stripe is disconnected');
  };
  const state = secret.data;
  const known = state && 'mode' in state ? state : undefined;
  return (
    <Screen
      title="Stripe"
      says="Payments go to your own account of Stripe, with keys that you set here."
      actions={
        <ApiCall
          name="setStripeSecret"
          input={{ params, body: { secretKey: 'sk_test_…', webhookSecret: 'whsec_…' } }}
        />
      }
    >
      <PaymentTabs />
      {secret.isLoading && <Loading />}
      {secret.error && <Problem error={secret.error} again={() => void secret.refetch()} />}
      {state &&
        'testCheckout' in state &&
        (state.testCheckout ? <OnTestCheckout /> : <Closed projectId={projectId} />)}
      {known && (
        <div className="card">
          <div className="spread">
            <p>
              A key that ends with <code>{known.hint}</code>, set <Time at={known.updatedAt} />.{' '}
              <span className={`badge ${known.mode === 'live' ? 'good' : 'warn'}`}>
                {known.mode}
              </span>
            </p>
            <Takes name="deleteStripeSecret">
              <button type="button" onClick={() => void forget().catch(notifyProblem)}>
                Disconnect…
              </button>
            </Takes>
          </div>
        </div>
      )}
      {/* Always there: while the state is read anew nothing of it is lost. */}
      <KeyForm projectId={projectId} isReplacing={known !== undefined} />
    </Screen>
  );
};
