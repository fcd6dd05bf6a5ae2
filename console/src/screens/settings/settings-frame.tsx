import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperationId } from '../../api/operation-types.ts';
import { useWhyNot } from '../../api/roles.ts';
import { Screen } from '../../parts/screen.tsx';
import './settings.css';

const pages = [
  ['', 'Settings'],
  ['/members', 'Members'],
  ['/providers', 'Sign-in providers'],
  ['/keys', 'Keys'],
  ['/config', 'Config as a file'],
  ['/copies', 'Copies and previews'],
  ['/restore-points', 'Restore points'],
] as const;

interface SettingsFrameProps {
  projectId: string;
  title: string;
  says?: ReactNode;
  actions?: ReactNode;
  /** Without which the page is of no use: who may not call it reads why, in place of the page. */
  takes?: OperationId;
  children: ReactNode;
}

/** The pages of the settings beside each other. */
export const SettingsFrame = ({
  projectId,
  takes,
  children,
  actions,
  ...screen
}: SettingsFrameProps) => {
  const why = useWhyNot();
  const refusal = takes && why(takes);
  return (
    <Screen {...screen} {...(!refusal && { actions })}>
      <nav className="tabs" aria-label="Settings">
        {pages.map(([path, label]) => (
          <Link
            key={path}
            to={`/projects/${projectId}/settings${path}` as string}
            activeOptions={{ exact: true }}
          >
            {label}
          </Link>
        ))}
      </nav>
      {refusal ? <div className="callout info">{refusal}</div> : children}
    </Screen>
  );
};
