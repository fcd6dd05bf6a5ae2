import { useEffect, useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { secondFactorShown } from '../../api/second-factor.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { Field } from '../../parts/field.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { CopyButton } from '../../parts/snippet.tsx';
import { ownProject } from './own-project.ts';
import { QrCode } from './qr-code.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

/** Shows the secret to an authenticator app, and takes its first code. */
export const AddTotp = ({ onClose }: { onClose(): void }) => {
  const begin = useChange('createTotp');
  const confirm = useChange('confirmTotp', {
    changes: ['listFactors', 'listMyEvents', 'listMySessions'],
  });
  const [codes, setCodes] = useState<readonly string[]>();
  const { mutate } = begin;
  useEffect(() => mutate(ownProject), [mutate]);
  const close = () => {
    // Whoever closes by accident would have lost them.
    if (!codes) onClose();
  };
  const { uri, secret } = begin.data ?? {};
  return (
    <Modal title="Set up an authenticator app" isOpen onClose={close}>
      {codes && <RecoveryCodes codes={codes} onClose={onClose} />}
      {!codes && begin.error && <Problem error={begin.error} again={() => mutate(ownProject)} />}
      {!codes && begin.isPending && <Loading lines={4} />}
      {!codes && uri && secret && (
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            const code = String(new FormData(event.currentTarget).get('code'));
            confirm.mutate(
              { ...ownProject, body: { code } },
              {
                onSuccess: ({ recoveryCodes }) => {
                  setCodes(recoveryCodes);
                  secondFactorShown();
                },
              },
            );
          }}
        >
          <p className="quiet-text">
            Point the app at this picture, or type the secret into it. Then type the code that it
            shows. Your other sessions end.
          </p>
          <QrCode text={uri} label="The secret as a QR code" />
          <p className="row">
            <code className="totp-secret">{secret}</code> <CopyButton text={secret} />
          </p>
          <Field label="Code of the app">
            {(props) => (
              <input
                {...props}
                name="code"
                inputMode="numeric"
                autoComplete="one-time-code"
                maxLength={40}
                required
              />
            )}
          </Field>
          <Problem error={confirm.error} />
          <footer className="row end">
            <button type="button" onClick={close}>
              Cancel
            </button>
            <button type="submit" className="primary" disabled={confirm.isPending}>
              Ask for codes from now on
            </button>
          </footer>
        </form>
      )}
    </Modal>
  );
};
