import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import type { Answer } from '../../api/operation-types.ts';
import { useCall, useChange } from '../../api/queries.ts';
import { roleWords } from '../../api/roles.ts';
import { lookAgain, signOut, useSession } from '../../api/session.ts';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { ResendVerification } from '../../parts/resend-verification.tsx';
import { roleSays } from '../../parts/words/role-says.ts';
import { Time } from '../../parts/words/time.tsx';
import { SignInForm } from '../../shell/sign-in-form.tsx';
import { forgetToken, useKeptToken } from './kept-token.ts';

type Invitation = Answer<'showMemberInvitation'>;

const SignInFirst = () => (
  <>
    <h1>You are invited to a project</h1>
    <p>
      Sign in with the address to which the invitation was sent, or create an account with it. You
      then see the project before you accept.
    </p>
    <SignInForm start="signIn" headingLevel={2} onDone={() => {}} />
  </>
);

interface SignedInUser {
  email: string | null;
  isVerified: boolean;
}

/** Why it can't be accepted by whoever is signed in. */
const NotForYou = ({ email, isVerified }: SignedInUser) => (
  <div className="callout warn" role="status">
    {isVerified ? (
      <>
        <p>
          <strong>This invitation was sent to another address.</strong>
        </p>
        <p>
          You are signed in as {email}. Sign in with the account of that address, or have this one
          invited.
        </p>
      </>
    ) : (
      <>
        <p>
          <strong>Confirm your e-mail address first.</strong>
        </p>
        <p>
          Follow the link in the mail that came to {email} when you signed up, then look again. If
          the invitation was sent to another address, sign in with that one.
        </p>
        <ResendVerification />
      </>
    )}
  </div>
);

interface OfferProps extends SignedInUser {
  token: string;
  invitation: Invitation;
  onLookAgain(): void;
}

const Offer = ({ token, invitation, email, isVerified, onLookAgain }: OfferProps) => {
  const { project, role, invitedBy, isForYou, expiresAt } = invitation;
  const navigate = useNavigate();
  const accept = useChange('acceptMemberInvitation', {
    changes: ['listProjects'],
    onSuccess: ({ id }) => {
      forgetToken();
      void navigate({ to: '/projects/$projectId', params: { projectId: id } });
    },
  });
  return (
    <>
      <h1>Work on {project.name}</h1>
      <p>
        {invitedBy ?? 'Somebody whose account is gone'} invites you to the project{' '}
        <strong>{project.name}</strong> as <strong>{roleWords[role]}</strong>.
      </p>
      <p className="quiet-text">{roleSays[role]}</p>
      <p className="quiet-text">
        The invitation ends <Time at={expiresAt} />.
      </p>
      {!isForYou && <NotForYou email={email} isVerified={isVerified} />}
      <Problem error={accept.error} />
      <div className="row">
        {isForYou ? (
          <button
            type="button"
            className="primary"
            disabled={accept.isPending}
            onClick={() => accept.mutate({ body: { token } })}
          >
            Accept
          </button>
        ) : (
          !isVerified && (
            <button type="button" className="primary" onClick={onLookAgain}>
              Look again
            </button>
          )
        )}
        <button type="button" onClick={() => void signOut()}>
          Sign in as somebody else
        </button>
      </div>
      {isForYou && <p className="quiet-text">You are signed in as {email}.</p>}
    </>
  );
};

const Shown = ({ token, ...user }: { token: string } & SignedInUser) => {
  const invitation = useCall('showMemberInvitation', { body: { token } });
  if (invitation.data)
    return (
      <Offer
        {...user}
        token={token}
        invitation={invitation.data}
        onLookAgain={() => {
          lookAgain();
          void invitation.refetch();
        }}
      />
    );
  if (!invitation.error) return <Loading />;
  const isEnded = invitation.error.code === 'invalid_link';
  return (
    <>
      <h1>{isEnded ? 'This invitation is good no more' : 'The invitation can not be shown'}</h1>
      <Problem
        error={invitation.error}
        again={isEnded ? undefined : () => void invitation.refetch()}
      />
      <div>
        <Link to="/" className="button">
          To your projects
        </Link>
      </div>
    </>
  );
};

const Page = ({ children }: { children: ReactNode }) => {
  useEffect(() => {
    document.title = 'Invitation · Backlot';
  }, []);
  return (
    <main className="page narrow">
      <a href="/" aria-label="Backlot: the front page">
        <img className="mark" src="/design/mark.svg" alt="" />
      </a>
      {children}
    </main>
  );
};

/** What the mail of an invitation leads to: `/console/invitation#<token>`. */
export const InvitationScreen = () => {
  const token = useKeptToken();
  const session = useSession();
  if (token === undefined)
    return (
      <Page>
        <h1>There is no invitation in this link</h1>
        <p>Open the link of the mail as it is, or copy it whole into the address bar.</p>
        <div>
          <Link to="/" className="button">
            To your projects
          </Link>
        </div>
      </Page>
    );
  if (session.state === 'unknown')
    return (
      <Page>
        {session.error ? (
          <>
            <h1>Your session could not be checked</h1>
            <Problem error={session.error} again={lookAgain} />
          </>
        ) : (
          <Loading />
        )}
      </Page>
    );
  if (session.state === 'out')
    return (
      <Page>
        <SignInFirst />
      </Page>
    );
  const { id, email, emailVerified } = session.user;
  return (
    <Page>
      <Shown key={id} token={token} email={email} isVerified={emailVerified} />
    </Page>
  );
};
