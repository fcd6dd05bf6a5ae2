import { Link } from '@tanstack/react-router';
import { useProjectId } from './use-project-id.ts';

interface AreaTabsProps {
  /** For screen readers: "Mail". */
  label: string;
  /** Path below the project, and what it is called. */
  pages: readonly (readonly [path: string, label: string])[];
}

/** The pages of an area beside each other. */
export const AreaTabs = ({ label, pages }: AreaTabsProps) => {
  const projectId = useProjectId();
  return (
    <nav className="tabs" aria-label={label}>
      {pages.map(([path, label]) => (
        <Link
          key={path}
          to={`/projects/${projectId}/${path}` as string}
          activeOptions={{ exact: !path.includes('/'), includeSearch: false }}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
};
