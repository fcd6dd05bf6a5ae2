import type { ReactNode } from 'react';
import { Snippet } from '../snippet.tsx';
import { Modal } from './modal.tsx';

interface ShownOnceProps {
  title: string;
  secret: string;
  /** Where it belongs now. */
  says: string;
  onClose(): void;
  /** How it is used. */
  children: ReactNode;
}

/** A secret that no other answer shows. */
export const ShownOnce = ({ title, secret, says, onClose, children }: ShownOnceProps) => (
  <Modal title={title} isOpen onClose={onClose} isWide>
    <div className="callout warn">This is the only time that it is shown. {says}</div>
    <Snippet text={secret} />
    {children}
    <footer>
      <button type="button" className="primary" onClick={onClose}>
        I have copied it
      </button>
    </footer>
  </Modal>
);
