import { usePages } from '../../api/queries.ts';
import { useSecondFactorNeeded } from '../../api/second-factor.ts';
import { useSession } from '../../api/session.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { EventTable } from '../../parts/lists/event-table.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { ResendVerification } from '../../parts/resend-verification.tsx';
import { Screen } from '../../parts/screen.tsx';
import { HomeFrame } from '../../shell/home-frame.tsx';
import { FactorNeeded } from './factor-needed.tsx';
import { Identities } from './identities.tsx';
import { ownProject } from './own-project.ts';
import { OwnSessions } from './own-sessions.tsx';
import { Passkeys } from './passkeys.tsx';
import { PasswordForm } from './password-form.tsx';
import { Totp } from './totp.tsx';
import './account.css';

const OwnEvents = () => {
  const pages = usePages('listMyEvents', { ...ownProject, query: { limit: 20 } });
  return (
    <section className="section" aria-label="Sign-ins and changes">
      <h2>Sign-ins and changes</h2>
      <Listed pages={pages} empty={<p className="quiet-text">Nothing in the last 90 days.</p>}>
        {(events) => <EventTable events={events} />}
      </Listed>
    </section>
  );
};

/** An owner's own account: how they sign in, and where they are signed in. */
export const AccountScreen = () => {
  const session = useSession();
  const needsFactor = useSecondFactorNeeded();
  const user = session.state === 'in' ? session.user : undefined;
  return (
    <HomeFrame>
      <Screen
        title="Your account"
        says={user?.email}
        actions={<ApiCall name="getMe" input={ownProject} />}
      >
        {needsFactor && <FactorNeeded />}
        {user && !user.emailVerified && (
          <div className="callout warn">
            <p>
              <strong>Your e-mail address is not confirmed.</strong> Follow the link that was mailed
              to {user.email}.
            </p>
            <ResendVerification />
          </div>
        )}
        <Passkeys />
        <Totp />
        {!needsFactor && (
          <>
            <Identities />
            <PasswordForm />
            <OwnSessions />
            <OwnEvents />
          </>
        )}
      </Screen>
    </HomeFrame>
  );
};
