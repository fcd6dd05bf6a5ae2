import { signOut } from '../../api/session.ts';

/** Why nothing else opens, and both ways on. */
export const FactorNeeded = () => (
  <div className="callout warn" role="status">
    <p>
      <strong>Set up a second factor to go on</strong>
    </p>
    <p>
      Owners of projects use one on this installation. A passkey is the quickest; an authenticator
      app will do, too.
    </p>
    <div className="row">
      <button type="button" className="small" onClick={() => void signOut()}>
        I have one already: sign in with it
      </button>
    </div>
  </div>
);
