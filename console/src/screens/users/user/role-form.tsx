import { useId, useState } from 'react';
import { useCall, useChange } from '../../../api/queries.ts';
import { Field } from '../../../parts/field.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { notify } from '../../../parts/toasts.tsx';

interface RoleFormProps {
  projectId: string;
  userId: string;
  role: string;
}

/** What a user is in this project; rules and powers name roles. */
export const RoleForm = ({ projectId, userId, role }: RoleFormProps) => {
  const [text, setText] = useState(role);
  const list = useId();
  const roles = useCall('listRoles', { params: { projectId } });
  const update = useChange('updateUser', {
    changes: ['getUser', 'listUsers'],
    onSuccess: ({ role }) => notify(`The role is now ${role}`),
  });
  const powers = roles.data?.items.find(({ name }) => name === text)?.may;
  return (
    <form
      className="section"
      onSubmit={(event) => {
        event.preventDefault();
        update.mutate({ params: { projectId, userId }, body: { role: text } });
      }}
    >
      <h2>Role</h2>
      <Field
        label="Role in this project"
        hint={
          powers
            ? `May do what is yours else: ${powers.join(', ')}.`
            : 'What a role may do stands in the rules of collections, which name it. A change acts within 5 seconds.'
        }
      >
        {(props) => (
          <div className="row role-field">
            <input
              {...props}
              list={list}
              value={text}
              maxLength={32}
              onChange={({ target }) => setText(target.value)}
              required
            />
            <button type="submit" disabled={text === role || update.isPending}>
              Set role
            </button>
          </div>
        )}
      </Field>
      <datalist id={list}>
        <option value="user" />
        {roles.data?.items.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Problem error={update.error} />
    </form>
  );
};
