import type { ReactNode } from 'react';
import { Snippet } from '../snippet.tsx';

interface EmptyProps {
  title: string;
  /** What will stand here, and how it comes. */
  children: ReactNode;
  /** Does the next step, for who copies it. */
  snippet?: string;
  /** A button that does it here. */
  action?: ReactNode;
}

/** Where nothing is yet: it teaches the next step. */
export const Empty = ({ title, children, snippet, action }: EmptyProps) => (
  <div className="empty">
    <h2>{title}</h2>
    <p>{children}</p>
    {action}
    {snippet && <Snippet text={snippet} />}
  </div>
);
