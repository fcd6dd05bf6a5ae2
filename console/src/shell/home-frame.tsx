import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Frame } from './frame.tsx';

/** What an owner sees beside the projects themselves. */
export const HomeFrame = ({ children }: { children: ReactNode }) => (
  <Frame
    title="Backlot"
    nav={
      <nav aria-label="Console">
        <Link to="/" activeOptions={{ exact: true }}>
          Projects
        </Link>
        <Link to="/audit">Audit log</Link>
        <Link to="/account">Your account</Link>
      </nav>
    }
  >
    {children}
  </Frame>
);
