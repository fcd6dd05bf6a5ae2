import { useState } from 'react';
import type { Answer, Item } from '../../../api/operation-types.ts';
import { useCall, useChange } from '../../../api/queries.ts';
import { Modal } from '../../../parts/dialogs/modal.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { notify } from '../../../parts/toasts.tsx';
import { userLabel } from '../../../parts/words/user-label.ts';

interface EraseUserProps {
  user: Answer<'getUser'>;
  projectId: string;
  onClose(): void;
  onErased(): void;
}

const becomes = {
  delete: 'are deleted',
  keep: 'stay, under the id of the user, which names nobody then',
  anonymise: 'stay, each under an owner of its own, without what was written of the user',
} as const;

const Collections = ({ collections }: { collections: readonly Item<'listCollections'>[] }) => (
  <ul>
    {Object.entries(becomes).map(([onErase, words]) => {
      const names = collections.filter((one) => one.onErase === onErase).map(({ name }) => name);
      return (
        names.length > 0 && (
          <li key={onErase}>
            Their records in <strong>{names.join(', ')}</strong> {words}.
          </li>
        )
      );
    })}
    <li>Their sessions, files and memberships of groups are gone.</li>
  </ul>
);

/** Erases an account, and says before what becomes of all that is theirs. */
export const EraseUser = ({ user, projectId, onClose, onErased }: EraseUserProps) => {
  const [typed, setTyped] = useState('');
  const collections = useCall('listCollections', { params: { projectId } });
  const erase = useChange('deleteUser', {
    changes: ['listUsers', 'listSignUps'],
    onSuccess: () => {
      notify(`${userLabel(user)} is erased`);
      onErased();
    },
  });
  return (
    <Modal title={`Erase ${userLabel(user)}?`} isOpen onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          erase.mutate({ params: { projectId, userId: user.id } });
        }}
      >
        <p>
          The account is gone at once, its records within minutes. It can not be undone: export
          everything before.
        </p>
        {collections.data ? (
          <Collections collections={collections.data.items} />
        ) : (
          <>
            <Problem error={collections.error} again={() => void collections.refetch()} />
            {!collections.error && <Loading lines={2} />}
          </>
        )}
        <label className="field">
          <span>
            Type <code>{userLabel(user)}</code> to go on
          </span>
          <input
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
            autoComplete="off"
          />
        </label>
        <Problem error={erase.error} />
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            className="danger"
            disabled={typed !== userLabel(user) || erase.isPending}
          >
            Erase user
          </button>
        </footer>
      </form>
    </Modal>
  );
};
