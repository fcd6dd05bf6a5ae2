import { Dialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';

interface ModalProps {
  title: string;
  isOpen: boolean;
  onClose(): void;
  isWide?: boolean;
  children: ReactNode;
}

/** A dialog over the page; Escape and a click beside it close it. Put its buttons into a `<footer>`. */
export const Modal = ({ title, isOpen, onClose, isWide, children }: ModalProps) => (
  <Dialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
    <Dialog.Portal>
      <Dialog.Backdrop className="backdrop" />
      <Dialog.Popup className={`dialog over ${isWide ? 'wide' : ''}`}>
        <Dialog.Title>{title}</Dialog.Title>
        {children}
      </Dialog.Popup>
    </Dialog.Portal>
  </Dialog.Root>
);
