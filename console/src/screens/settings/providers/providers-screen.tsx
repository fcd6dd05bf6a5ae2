import { useState } from 'react';
import type { Item } from '../../../api/operation-types.ts';
import { useCall, useChange } from '../../../api/queries.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { confirm } from '../../../parts/dialogs/confirm.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { MoreMenu } from '../../../parts/menu.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Snippet } from '../../../parts/snippet.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import { useProjectId } from '../../../parts/use-project-id.ts';
import { SettingsFrame } from '../settings-frame.tsx';
import { knownProviders } from './known.ts';
import { ProviderForm } from './provider-form.tsx';

type Provider = Item<'listSetProviders'>;

const changes = ['listSetProviders'] as const;
const columns = ['Provider', 'State', 'Client', { label: 'Actions', isHidden: true }];

const stateOf = ({ isOn, setBy }: Provider) => {
  if (!isOn) return <span className="badge">off</span>;
  return setBy === 'operator' ? (
    <span className="badge good">on, by the installation’s client</span>
  ) : (
    <span className="badge good">on</span>
  );
};

interface RowProps {
  projectId: string;
  name: string;
  label: string;
  provider: Provider | undefined;
  open(name: string): void;
}

const ProviderRow = ({ projectId, name, label, provider, open }: RowProps) => {
  const params = { projectId, name };
  const set = useChange('setAuthProvider', { changes });
  const remove = useChange('deleteAuthProvider', { changes });
  const forget = async () => {
    const isSure = await confirm({
      title: `Forget the client of ${label}?`,
      says: 'Users who sign in with it alone can not sign in until you set it again. They stay users, with all that is theirs.',
      action: 'Forget client',
      isDangerous: true,
    });
    if (!isSure) return;
    await remove.mutateAsync({ params });
    notify(`The client of ${label} is forgotten`);
  };
  const switchOff = () =>
    set.mutate(
      { params, body: { off: true } },
      { onSuccess: () => notify(`Nobody signs in with ${label} now`), onError: notifyProblem },
    );
  const isOwners = provider?.setBy === 'owner';
  const choices = [
    ...(provider?.isOn && !isOwners ? [{ label: 'Switch off', onSelect: switchOff }] : []),
    ...(isOwners
      ? [
          {
            label: 'Forget…',
            onSelect: () => void forget().catch(notifyProblem),
            isDangerous: true,
          },
        ]
      : []),
  ];
  return (
    <tr>
      <td>{label}</td>
      <td>{provider ? stateOf(provider) : <span className="quiet-text">not set up</span>}</td>
      <td className="mono cut">{provider?.clientId ?? '–'}</td>
      <td>
        <div className="row end">
          <button type="button" className="small" onClick={() => open(name)}>
            {isOwners ? 'Replace…' : 'Set up…'}
          </button>
          {choices.length > 0 && <MoreMenu label={`More of ${label}`} choices={choices} />}
        </div>
      </td>
    </tr>
  );
};

/** Who else signs users in: Google, GitHub and any OpenID provider. */
export const ProvidersScreen = () => {
  const projectId = useProjectId();
  const query = useCall('listSetProviders', { params: { projectId } });
  const [opened, setOpened] = useState<string>();
  const set = query.data?.items ?? [];
  const others = set.filter(({ name }) => !knownProviders.some((known) => known.name === name));
  const find = (name: string) => set.find((provider) => provider.name === name);
  return (
    <SettingsFrame
      projectId={projectId}
      takes="listSetProviders"
      title="Sign-in providers"
      says="Users sign in with an account that they have elsewhere. The form shows a button for each that is on."
      actions={
        <>
          <ApiCall
            name="setAuthProvider"
            input={{
              params: { projectId, name: 'google' },
              body: { clientId: '….apps.googleusercontent.com', clientSecret: '…' },
            }}
          />
          <button type="button" onClick={() => setOpened('own')}>
            Add an OpenID provider
          </button>
        </>
      }
    >
      {query.error && <Problem error={query.error} again={() => void query.refetch()} />}
      {!query.data && !query.error && <Loading />}
      {query.data && (
        <>
          <WideTable label="Sign-in providers" columns={columns}>
            {[...knownProviders, ...others].map(({ name, label }) => (
              <ProviderRow
                key={name}
                projectId={projectId}
                name={name}
                label={label}
                provider={find(name)}
                open={setOpened}
              />
            ))}
          </WideTable>
          <h2>In your app</h2>
          <p className="quiet-text">
            The finished form, with every way to sign in that is on here. The origin of the app has
            to stand in the setting “allowedOrigins”.
          </p>
          <Snippet
            text={`<script type="module" src="${location.origin}/sdk-sign-in.js"></script>
<backlot-sign-in project="${projectId}"></backlot-sign-in>`}
          />
        </>
      )}
      {opened && (
        <ProviderForm
          key={opened}
          projectId={projectId}
          name={opened}
          provider={find(opened)}
          onClose={() => setOpened(undefined)}
        />
      )}
    </SettingsFrame>
  );
};
