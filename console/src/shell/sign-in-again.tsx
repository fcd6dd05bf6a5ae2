import { useState } from 'react';
import { lastEmail, signOut } from '../api/session.ts';
import { Modal } from '../parts/dialogs/modal.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** Over the page on which somebody was at work. */
const SignInAgain = () => {
  const [email] = useState(lastEmail);
  return (
    <Modal title="Your session has ended" isOpen onClose={() => {}}>
      <p className="quiet-text">
        Sign in again to go on where you were. What you have typed is kept.
      </p>
      <SignInForm start="signIn" headingLevel={2} {...(email && { email })} onDone={() => {}} />
      <footer>
        <button type="button" className="quiet" onClick={() => void signOut()}>
          Sign in as somebody else
        </button>
      </footer>
    </Modal>
  );
};

export default SignInAgain;
