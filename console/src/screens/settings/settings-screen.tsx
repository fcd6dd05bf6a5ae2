import { useCall } from '../../api/queries.ts';
import { whyNot } from '../../api/roles.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { CopyButton } from '../../parts/snippet.tsx';
import { useProjectId } from '../../parts/use-project-id.ts';
import { Time } from '../../parts/words/time.tsx';
import { ProjectMenu } from '../projects/project-menu.tsx';
import { SettingRow } from './setting/setting-row.tsx';
import { useUnsavedSettings } from './setting/use-unsaved-settings.ts';
import { groups } from './setting-groups.ts';
import { SettingsFrame } from './settings-frame.tsx';

export const SettingsScreen = () => {
  const projectId = useProjectId();
  const params = { projectId };
  const project = useCall('getProject', { params });
  const { data } = project;
  const refusal = whyNot(data?.role, 'updateProject');
  const noteUnsaved = useUnsavedSettings();
  return (
    <SettingsFrame
      projectId={projectId}
      title="Settings"
      says="What your app’s users and visitors may do. Each holds within seconds, and can be taken back."
      actions={
        <>
          <ApiCall
            name="updateProject"
            input={{ params, body: { settings: { mustVerify: true } } }}
          />
          {data && <ProjectMenu project={data} label="Rename, pause or delete" />}
        </>
      }
    >
      {!data ? (
        project.error ? (
          <Problem error={project.error} again={() => void project.refetch()} />
        ) : (
          <Loading />
        )
      ) : (
        <>
          <dl className="facts">
            <dt>Address</dt>
            <dd className="row">
              <span className="mono">{data.baseUrl}</span>
              <CopyButton text={data.baseUrl} />
            </dd>
            <dt>Id</dt>
            <dd className="mono">{data.id}</dd>
            <dt>Created</dt>
            <dd>
              <Time at={data.createdAt} />
            </dd>
          </dl>
          {refusal && <div className="callout info">To change a setting: {refusal}</div>}
          <fieldset className="plain stack" disabled={refusal !== undefined}>
            {groups.map(({ title, names }) => (
              <section key={title} aria-label={title}>
                <h2 className="setting-title">{title}</h2>
                {names.map((name) => (
                  <SettingRow
                    key={name}
                    projectId={projectId}
                    name={name}
                    settings={data.settings}
                    onUnsaved={noteUnsaved}
                  />
                ))}
              </section>
            ))}
          </fieldset>
        </>
      )}
    </SettingsFrame>
  );
};
