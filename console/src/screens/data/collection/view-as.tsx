import { useState } from 'react';
import { useCall, usePages } from '../../../api/queries.ts';
import { Modal } from '../../../parts/dialogs/modal.tsx';
import { Field } from '../../../parts/field.tsx';
import { Listed } from '../../../parts/lists/listed.tsx';
import { MoreMenu } from '../../../parts/menu.tsx';
import { userLabel } from '../../../parts/words/user-label.ts';

interface ViewAsProps {
  projectId: string;
  as: string | undefined;
  onChange(as: string | undefined): void;
}

const ChooseUser = ({ projectId, onChange, onClose }: ViewAsProps & { onClose(): void }) => {
  const [email, setEmail] = useState('');
  const isAddress = /^\S+@\S+\.\S+$/.test(email.trim());
  const query = { limit: 20, ...(isAddress && { email: email.trim() }) };
  const pages = usePages('listUsers', { params: { projectId }, query });
  const needle = email.trim().toLowerCase();
  return (
    <>
      <Field
        label="E-mail address"
        hint="The newest users stand here; a whole address finds anyone."
      >
        {(props) => (
          <input
            {...props}
            value={email}
            autoComplete="off"
            onChange={({ target }) => setEmail(target.value)}
          />
        )}
      </Field>
      <Listed pages={pages} empty={<p className="quiet-text">There is no such user.</p>}>
        {(users) => (
          <ul className="choice-list">
            {users
              .filter((user) => `${user.email} ${user.name}`.toLowerCase().includes(needle))
              .map((user) => (
                <li key={user.id}>
                  <button
                    type="button"
                    className="quiet"
                    onClick={() => {
                      onChange(`user:${user.id}`);
                      onClose();
                    }}
                  >
                    <bdi className="cut">{userLabel(user)}</bdi>
                    <span className="badge">{user.role}</span>
                  </button>
                </li>
              ))}
          </ul>
        )}
      </Listed>
    </>
  );
};

const ChooseRole = ({ onChange, onClose }: ViewAsProps & { onClose(): void }) => (
  <form
    className="stack"
    onSubmit={(event) => {
      event.preventDefault();
      onChange(`role:${String(new FormData(event.currentTarget).get('role'))}`);
      onClose();
    }}
  >
    <Field label="Role" hint="Anybody who is signed in and has it.">
      {(props) => (
        <input
          {...props}
          name="role"
          pattern="[a-z][a-z0-9_\-]{0,31}"
          placeholder="staff"
          autoComplete="off"
          required
        />
      )}
    </Field>
    <footer className="row end">
      <button type="button" onClick={onClose}>
        Cancel
      </button>
      <button type="submit" className="primary">
        See it as this role
      </button>
    </footer>
  </form>
);

const useWords = (projectId: string, as: string | undefined) => {
  const userId = as?.startsWith('user:') ? as.slice('user:'.length) : undefined;
  const user = useCall(
    'getUser',
    { params: { projectId, userId: userId ?? '' } },
    { enabled: userId !== undefined },
  );
  if (as === undefined) return 'you';
  if (as === 'stranger') return 'a stranger';
  if (userId !== undefined) return user.data ? userLabel(user.data) : 'a user';
  return `the role ${as.slice('role:'.length)}`;
};

/** As whom the records are read: who is chosen sees them by the collection's rules. */
export const ViewAs = (props: ViewAsProps) => {
  const { projectId, as, onChange } = props;
  const [choosing, setChoosing] = useState<'user' | 'role' | null>(null);
  const words = useWords(projectId, as);
  const close = () => setChoosing(null);
  return (
    <>
      <MoreMenu
        label="See it as"
        choices={[
          { label: 'You, the owner', onSelect: () => onChange(undefined) },
          { label: 'A stranger', onSelect: () => onChange('stranger') },
          { label: 'A user…', onSelect: () => setChoosing('user') },
          { label: 'Anybody with a role…', onSelect: () => setChoosing('role') },
        ]}
      >
        Seen as <strong className="cut">{words}</strong> ▾
      </MoreMenu>
      {choosing && (
        <Modal
          title={choosing === 'user' ? 'See it as this user' : 'See it as this role'}
          isOpen
          onClose={close}
        >
          {choosing === 'user' ? (
            <ChooseUser {...props} onClose={close} />
          ) : (
            <ChooseRole {...props} onClose={close} />
          )}
        </Modal>
      )}
    </>
  );
};
