import { type FormEvent, useState } from 'react';
import type { Item } from '../../../api/operation-types.ts';
import { useChange } from '../../../api/queries.ts';
import { Modal } from '../../../parts/dialogs/modal.tsx';
import { Field } from '../../../parts/field.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Snippet } from '../../../parts/snippet.tsx';
import { notify } from '../../../parts/toasts.tsx';
import { callbackUrl, knownProviders } from './known.ts';

type Provider = Item<'listSetProviders'>;

const changes = ['listSetProviders'] as const;

interface TextProps {
  name: string;
  label: string;
  hint?: string;
  initial?: string | undefined;
  isRequired?: boolean;
  maxLength: number;
}

const Text = ({ name, label, hint, initial, isRequired, maxLength }: TextProps) => (
  <Field label={label} {...(hint && { hint })}>
    {(props) => (
      <input
        {...props}
        name={name}
        className="code"
        autoComplete="off"
        spellCheck={false}
        defaultValue={initial}
        maxLength={maxLength}
        required={isRequired}
      />
    )}
  </Field>
);

const Secret = ({ isApple }: { isApple: boolean }) => (
  <Field
    label={isApple ? 'Key file (.p8)' : 'Client secret'}
    hint="It is sealed: nothing shows it again."
  >
    {(props) =>
      isApple ? (
        <textarea {...props} name="clientSecret" className="code" maxLength={4000} required />
      ) : (
        <input
          {...props}
          name="clientSecret"
          type="password"
          className="code"
          autoComplete="off"
          maxLength={4000}
          required
        />
      )
    }
  </Field>
);

const Own = ({ provider }: { provider: Provider | undefined }) => (
  <>
    <Text
      name="issuer"
      label="Issuer"
      hint="The address of the provider: https://login.example.org"
      initial={provider?.issuer}
      isRequired
      maxLength={500}
    />
    <Text
      name="label"
      label="Words on the button"
      initial={provider?.label}
      maxLength={40}
      isRequired
    />
  </>
);

const optional = ['issuer', 'label', 'teamId', 'keyId'];

const readBody = (form: HTMLFormElement) => {
  const fields = [...new FormData(form)].map(([name, value]) => [name, String(value).trim()]);
  return Object.fromEntries(
    fields.filter(([name = '', value]) => name !== 'name' && (value || !optional.includes(name))),
  ) as { clientId: string; clientSecret: string };
};

interface ProviderFormProps {
  projectId: string;
  /** A known one, `own` for a new one, or the name of one that is set. */
  name: string;
  provider?: Provider | undefined;
  onClose(): void;
}

/** The client that an owner has registered with a provider. */
export const ProviderForm = ({ projectId, name, provider, onClose }: ProviderFormProps) => {
  const set = useChange('setAuthProvider', { changes });
  const [isNewOwn] = useState(name === 'own');
  const known = knownProviders.find((candidate) => candidate.name === name);
  const label = known?.label ?? provider?.label ?? 'an OpenID provider';
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const chosen = isNewOwn ? String(new FormData(form).get('name')).trim() : name;
    set.mutate(
      { params: { projectId, name: chosen }, body: readBody(form) },
      {
        onSuccess: (kept) => {
          notify(`Users can sign in with ${kept.label}`);
          onClose();
        },
      },
    );
  };
  return (
    <Modal title={`Sign-in with ${label}`} isOpen onClose={onClose} isWide>
      <form className="stack" onSubmit={submit}>
        {known && (
          <p>
            Register your app at{' '}
            <a href={known.url} target="_blank" rel="noreferrer">
              {known.label}
            </a>
            : {known.steps}
          </p>
        )}
        {known && (
          <>
            <p className="quiet-text">As the address to return to (redirect URI) name:</p>
            <Snippet text={callbackUrl()} />
          </>
        )}
        {provider && !known && <Snippet text={provider.callbackUrl} />}
        {isNewOwn && (
          <Text
            name="name"
            label="Name in addresses"
            hint="Such as company: /auth/oauth/company"
            isRequired
            maxLength={32}
          />
        )}
        {!known && <Own provider={provider} />}
        <Text
          name="clientId"
          label={name === 'apple' ? 'Services ID' : 'Client ID'}
          initial={provider?.clientId ?? undefined}
          isRequired
          maxLength={300}
        />
        {name === 'apple' && (
          <>
            <Text name="teamId" label="Team ID" isRequired maxLength={20} />
            <Text name="keyId" label="Key ID" isRequired maxLength={20} />
          </>
        )}
        {name === 'microsoft' && (
          <Text
            name="issuer"
            label="Issuer"
            hint="Of one tenant; all accounts of Microsoft where it is left empty."
            maxLength={500}
          />
        )}
        <Secret isApple={name === 'apple'} />
        <Problem error={set.error} />
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={set.isPending}>
            Let users sign in with it
          </button>
        </footer>
      </form>
    </Modal>
  );
};
