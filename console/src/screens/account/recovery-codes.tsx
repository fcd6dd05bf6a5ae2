import { useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { Snippet } from '../../parts/snippet.tsx';
import { CodeForm } from './code-form.tsx';
import { ownProject } from './own-project.ts';

/** Shown this once: whoever loses the app has nothing else. */
export const RecoveryCodes = ({
  codes,
  onClose,
}: {
  codes: readonly string[];
  onClose(): void;
}) => (
  <>
    <p>
      Keep these recovery codes where you keep what you can not lose. Each signs you in once, in
      place of the app. <strong>They are shown only now.</strong>
    </p>
    <Snippet text={codes.join('\n')} />
    <footer className="row end">
      <button type="button" className="primary" onClick={onClose}>
        I have kept them
      </button>
    </footer>
  </>
);

export const RenewCodes = ({ onClose }: { onClose(): void }) => {
  const renew = useChange('renewRecoveryCodes', { changes: ['listFactors', 'listMyEvents'] });
  const [codes, setCodes] = useState<readonly string[]>();
  // Whoever closes by accident would have lost them.
  const close = () => !codes && onClose();
  return (
    <Modal title="New recovery codes" isOpen onClose={close}>
      {codes ? (
        <RecoveryCodes codes={codes} onClose={onClose} />
      ) : (
        <CodeForm
          says="Ten new codes take the place of those that you have, which end."
          action="Show new codes"
          change={renew}
          onCode={(code) =>
            renew.mutate(
              { ...ownProject, body: { code } },
              { onSuccess: ({ recoveryCodes }) => setCodes(recoveryCodes) },
            )
          }
          onClose={close}
        />
      )}
    </Modal>
  );
};
