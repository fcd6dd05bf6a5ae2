import type { FormEvent } from 'react';
import { useChange } from '../../api/queries.ts';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { notify } from '../../parts/toasts.tsx';
import { ownProject } from './own-project.ts';

/** Another password; every other session ends. */
export const PasswordForm = () => {
  const change = useChange('changePassword', { changes: ['listMyEvents', 'listMySessions'] });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const fields = new FormData(form);
    const body = {
      currentPassword: String(fields.get('currentPassword')),
      newPassword: String(fields.get('newPassword')),
    };
    change.mutate(
      { ...ownProject, body },
      {
        onSuccess: () => {
          form.reset();
          notify('The password is changed. You are signed out everywhere else.');
        },
      },
    );
  };
  return (
    <section className="section" aria-label="Password">
      <h2>Password</h2>
      <form className="stack account-form" onSubmit={submit}>
        <Field label="Present password">
          {(props) => (
            <input
              {...props}
              name="currentPassword"
              type="password"
              autoComplete="current-password"
              maxLength={1024}
              required
            />
          )}
        </Field>
        <Field label="New password" hint="At least 8 characters. Every other session ends.">
          {(props) => (
            <input
              {...props}
              name="newPassword"
              type="password"
              autoComplete="new-password"
              minLength={8}
              maxLength={128}
              required
            />
          )}
        </Field>
        <Problem error={change.error} />
        <div className="row">
          <button type="submit" disabled={change.isPending}>
            Change password
          </button>
        </div>
      </form>
    </section>
  );
};
