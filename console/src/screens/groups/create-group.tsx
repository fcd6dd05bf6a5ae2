import type { BacklotError } from '@backlot/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call } from '../../api/call.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';

interface CreateGroupProps {
  projectId: string;
  isOpen: boolean;
  onClose(): void;
  onCreated(groupId: string): void;
}

/** @throws Error where nobody has the address */
const findUser = async (projectId: string, email: string): Promise<string> => {
  const found = await call('listUsers', { params: { projectId }, query: { email, limit: 1 } });
  const user = found.items[0];
  if (!user)
    throw new Error(`No user has the address ${email}: leave it empty, and invite them then.`);
  return user.id;
};

const create = async (projectId: string, name: string, email: string): Promise<string> => {
  const ownerId = email === '' ? undefined : await findUser(projectId, email);
  const group = await call('createGroup', {
    project: projectId,
    body: { name, ...(ownerId && { ownerId }) },
  });
  return group.id;
};

export const CreateGroup = ({ projectId, isOpen, onClose, onCreated }: CreateGroupProps) => {
  const client = useQueryClient();
  const creating = useMutation<string, BacklotError, FormData>({
    mutationFn: (form) =>
      create(projectId, String(form.get('name')), String(form.get('email')).trim()),
    onSuccess: onCreated,
    onSettled: () => client.invalidateQueries({ queryKey: ['listGroups'] }),
  });
  return (
    <Modal title="Create a group" isOpen={isOpen} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          creating.mutate(new FormData(event.currentTarget));
        }}
      >
        <Field label="Name" hint="Its members see it, and so do mails that invite.">
          {(props) => (
            <input {...props} name="name" maxLength={100} placeholder="Bakery" required />
          )}
        </Field>
        <Field
          label="Address of its owner"
          hint="Of a user of this project, who manages it. Without one nobody is in it until you invite the first."
        >
          {(props) => <input {...props} name="email" type="email" maxLength={254} />}
        </Field>
        <Problem error={creating.error} />
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={creating.isPending}>
            Create group
          </button>
        </footer>
      </form>
    </Modal>
  );
};
