import { useCall } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Screen } from '../../parts/screen.tsx';
import { useProjectId } from '../../parts/use-project-id.ts';
import { SettingRow } from '../settings/setting/setting-row.tsx';
import { useUnsavedSettings } from '../settings/setting/use-unsaved-settings.ts';
import '../settings/settings.css';
import { AiTabs } from './ai-tabs.tsx';
import { ModelKey } from './model-key.tsx';

const names = [
  'aiModel',
  'callers',
  'aiPerVisitorPerDay',
  'visitorCreditsPerDay',
  'creditsPerDay',
  'creditsPerMonth',
] as const;

/** Who may ask the model, which one, and for how much. */
export const BudgetsScreen = () => {
  const projectId = useProjectId();
  const params = { projectId };
  const project = useCall('getProject', { params });
  const noteUnsaved = useUnsavedSettings();
  return (
    <Screen
      title="Model and budgets"
      says="Which model answers, whose key it is asked with, and what visitors and the whole project may spend."
      actions={
        <ApiCall
          name="updateProject"
          input={{ params, body: { settings: { aiPerVisitorPerDay: 5 } } }}
        />
      }
    >
      <AiTabs />
      <ModelKey projectId={projectId} />
      {/* Of a project that can't be read the frame has said so. */}
      {!project.data && <Loading lines={8} />}
      {project.data && (
        <section aria-label="Settings">
          {names.map((name) => (
            <SettingRow
              key={name}
              projectId={projectId}
              name={name}
              settings={project.data.settings}
              onUnsaved={noteUnsaved}
            />
          ))}
        </section>
      )}
    </Screen>
  );
};
