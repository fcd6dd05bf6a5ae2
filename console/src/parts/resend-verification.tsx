import { useMutation } from '@tanstack/react-query';
import { lookAgain, ownerAuth, useSession } from '../api/session.ts';

/** Mails the owner who is signed in the link that confirms their address once more. Nothing where it is confirmed. */
export const ResendVerification = () => {
  const session = useSession();
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: () => ownerAuth.resendVerification(),
    // It may have been confirmed in another tab.
    onError: lookAgain,
  });
  if (session.state !== 'in' || session.user.emailVerified) return null;
  if (isSuccess)
    return (
      <p role="status">A new link is on its way to {session.user.email}; the one before is over.</p>
    );
  return (
    <div className="row">
      <button type="button" className="small" disabled={isPending} onClick={() => mutate()}>
        Mail the link again
      </button>
      {error && <span role="alert">{error.message}</span>}
    </div>
  );
};
