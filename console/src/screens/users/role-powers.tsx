import { powers } from 'virtual:contract';
import type { Item } from '../../api/operation-types.ts';
import { useCall, useChange } from '../../api/queries.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Takes } from '../../parts/takes.tsx';

type Role = Item<'listRoles'>;
type Power = Role['may'][number];

interface RolePowersProps {
  projectId: string;
  onClose(): void;
}

const words: Record<Power, string> = {
  'block-users': 'block users',
  'delete-files': 'delete files of others',
  'see-users': 'list users',
  'see-emails': 'see their addresses',
};

const RoleLine = ({
  role: { name, may },
  set,
}: {
  role: Role;
  set(name: string, may: Power[]): void;
}) => (
  <fieldset className="role-powers">
    <legend className="label">{name}</legend>
    {powers.map((power) => (
      <label key={power} className="check">
        <input
          type="checkbox"
          checked={may.includes(power)}
          onChange={({ target }) =>
            set(name, target.checked ? [...may, power] : may.filter((other) => other !== power))
          }
        />
        {words[power]}
      </label>
    ))}
  </fieldset>
);

/** What the users of a role may do that is the owner's else. */
export const RolePowers = ({ projectId, onClose }: RolePowersProps) => {
  const roles = useCall('listRoles', { params: { projectId } });
  const changes = ['listRoles'] as const;
  const update = useChange('setRole', { changes });
  const remove = useChange('deleteRole', { changes });
  const set = (name: string, may: Power[]) => {
    const params = { projectId, name };
    if (may.length === 0) remove.mutate({ params });
    else update.mutate({ params, body: { may } });
  };
  return (
    <Modal title="What roles may do" isOpen onClose={onClose} isWide>
      <p className="quiet-text">
        What the users of a role read and change is said in Rules. Here they are given what is yours
        else; it holds within 5 seconds. A role without any power leaves this list, and its users
        keep it.
      </p>
      <Problem error={roles.error} again={() => void roles.refetch()} />
      {roles.isLoading && <Loading lines={2} />}
      <Takes name="setRole">
        {roles.data?.items.map((role) => (
          <RoleLine key={role.name} role={role} set={set} />
        ))}
        <form
          className="row role-field"
          onSubmit={(event) => {
            event.preventDefault();
            const form = event.currentTarget;
            set(String(new FormData(form).get('name')), ['see-users']);
            form.reset();
          }}
        >
          <input
            name="name"
            aria-label="Role to give powers"
            placeholder="staff"
            pattern="[a-z][a-z0-9_\-]{0,31}"
            title="1 to 32 of a-z, 0-9, _ and -, a letter first"
            required
          />
          <button type="submit">Let a role list users</button>
        </form>
      </Takes>
      <Problem error={update.error ?? remove.error} />
      <footer>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </footer>
    </Modal>
  );
};
