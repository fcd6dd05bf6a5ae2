import { Link, Outlet, useNavigate, useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useCall } from '../api/queries.ts';
import { RoleHere, roleWords } from '../api/roles.ts';
import { useCommands } from '../parts/commands.ts';
import { Problem } from '../parts/problem.tsx';
import { roleSays } from '../parts/words/role-says.ts';
import { areas } from './areas.ts';
import { Frame } from './frame.tsx';

const suspendedWords = {
  all: 'this project',
  mail: 'mail in this project',
  ai: 'AI in this project',
  uploads: 'uploads to this project',
  writes: 'writing in this project',
  payments: 'payments in this project',
} as const;

/** A project's navigation beside each of its screens. */
export const ProjectLayout = () => {
  const { projectId } = useParams({ from: '/signed-in/projects/$projectId' });
  const project = useCall('getProject', { params: { projectId } });
  const navigate = useNavigate();
  const commands = useMemo(
    () =>
      areas.map(({ path, label }) => ({
        group: 'Go to',
        label,
        run: () => void navigate({ to: `/projects/${projectId}/${path}` as string }),
      })),
    [navigate, projectId],
  );
  useCommands(commands);
  const { status, role, name = projectId, previewOf } = project.data ?? {};
  const nav = (
    <>
      <nav aria-label="Project">
        {areas.map(({ path, label }) => (
          <Link key={path} to={`/projects/${projectId}/${path}` as string}>
            {label}
          </Link>
        ))}
      </nav>
      {(role === 'viewer' || role === 'editor') && (
        <p className="own-role">
          You are {roleWords[role]}. {roleSays[role]}
        </p>
      )}
    </>
  );
  // A screen that is there stays, with what was typed, while its project can't be read anew.
  const isRefused = project.error && (!project.data || project.error.status === 404);
  return (
    <Frame title={name} nav={nav}>
      {isRefused ? (
        <div className="screen">
          <h1>This project can not be shown</h1>
          <Problem error={project.error} again={() => void project.refetch()} />
          <Link to="/">To your projects</Link>
        </div>
      ) : (
        <>
          {project.data?.suspensions?.map(({ of, capability, reason }) => (
            <div className="callout bad" role="status" key={`${of} ${capability}`}>
              The operator of the platform has suspended {suspendedWords[capability]}: {reason}
            </div>
          ))}
          {previewOf && (
            <div className="callout info">
              This is a preview of <span className="mono">{previewOf}</span>: nothing that you do
              here reaches its users until you{' '}
              <Link to="/projects/$projectId/settings/copies" params={{ projectId: previewOf }}>
                promote it
              </Link>
              .
            </div>
          )}
          {status !== undefined && status !== 'active' && (
            <div className="callout warn" role="status">
              {status === 'paused'
                ? 'This project is paused: its calls are refused until you resume it in Settings.'
                : 'This project is deleted. It can be restored from the list of projects.'}
            </div>
          )}
          <RoleHere value={role}>
            <Outlet />
          </RoleHere>
        </>
      )}
    </Frame>
  );
};
