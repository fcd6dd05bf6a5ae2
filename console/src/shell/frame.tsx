import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { signOut, useSession } from '../api/session.ts';
import { MoreMenu } from '../parts/menu.tsx';
import { openPalette } from './palette-state.ts';
import { ThemeSwitch } from './theme-switch.tsx';

interface FrameProps {
  /** Stands beside the mark: the project's name. */
  title: string;
  nav: ReactNode;
  /** Where the mark leads; the owner's projects unless stated. */
  home?: { to: string; label: string };
  /** Who works here; the owner unless stated. */
  account?: { name: string; signOut(): void };
  children: ReactNode;
}

/** The bar at the side, which is one at the top on a phone, and the screen. */
const projectsHome = { to: '/', label: 'Your projects' };

export const Frame = ({ title, nav, home = projectsHome, account, children }: FrameProps) => {
  const [isOpen, setOpen] = useState(false);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link was followed
  useEffect(() => setOpen(false), [pathname]);
  const session = useSession();
  const navigate = useNavigate();
  const email = session.state === 'in' ? session.user.email : 'Account';
  return (
    <div className="shell">
      <a href="#main" className="button skip visually-hidden">
        To the content
      </a>
      <header className={`side ${isOpen ? 'open' : ''}`}>
        <div className="side-head">
          <Link to={home.to as string} className="brand" title={home.label}>
            <img className="mark" src="/design/mark.svg" alt={home.label} />
            <span className="cut">{title}</span>
          </Link>
          <button
            type="button"
            className="menu-switch"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            Menu
          </button>
        </div>
        <button type="button" className="find" onClick={openPalette} aria-keyshortcuts="Control+K">
          Find or do <kbd>Ctrl K</kbd>
        </button>
        {nav}
        <div className="side-foot">
          <ThemeSwitch />
          <MoreMenu
            label="Account"
            choices={[
              ...(account
                ? []
                : [{ label: 'Your account', onSelect: () => void navigate({ to: '/account' }) }]),
              { label: 'Documentation', onSelect: () => void open('/docs') },
              { label: 'Sign out', onSelect: () => void (account ?? { signOut }).signOut() },
            ]}
          >
            <span className="cut">{account?.name ?? email}</span>
          </MoreMenu>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
};
