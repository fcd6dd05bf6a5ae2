import { useNavigate, useParams } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { Answer } from '../../api/operation-types.ts';
import { useCall, useChange } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Screen } from '../../parts/screen.tsx';
import { Takes } from '../../parts/takes.tsx';
import { notify } from '../../parts/toasts.tsx';
import { useProjectId } from '../../parts/use-project-id.ts';
import { useUnsaved } from '../../parts/use-unsaved.ts';
import { MailTabs } from './mail-tabs.tsx';
import { TemplateFields } from './template-fields.tsx';
import { fromForm, newTemplate, type TemplateForm, toForm } from './template-form.ts';
import { TemplatePreview } from './template-preview.tsx';
import './mail.css';

interface EditorProps {
  projectId: string;
  /** Undefined: a new one. */
  saved: Answer<'getMailTemplate'> | undefined;
  onSaved(name: string): void;
}

const Editor = ({ projectId, saved, onSaved }: EditorProps) => {
  const first = saved ? toForm(saved) : newTemplate;
  const [form, setForm] = useState<TemplateForm>(first);
  const [wrong, setWrong] = useState<Error | null>(null);
  const isDirty = JSON.stringify(form) !== JSON.stringify(first);
  useUnsaved(isDirty);
  const set = useChange('setMailTemplate', {
    changes: ['listMailTemplates', 'getMailTemplate', 'previewMailTemplate'],
  });
  const save = async () => {
    setWrong(null);
    const { name } = form;
    const answer = await set.mutateAsync({ params: { projectId, name }, body: fromForm(form) });
    setForm(toForm(answer));
    notify(`${name} is saved`);
    onSaved(name);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save().catch(setWrong);
  };
  return (
    <div className="editor">
      <Takes name="setMailTemplate">
        <form className="stack" onSubmit={submit}>
          <TemplateFields form={form} isNew={!saved} onChange={setForm} />
          <Problem error={wrong} />
          <div className="row">
            <button type="submit" className="primary" disabled={set.isPending}>
              Save template
            </button>
            {isDirty && saved && (
              <button type="button" onClick={() => setForm(first)}>
                Discard changes
              </button>
            )}
          </div>
        </form>
      </Takes>
      {saved ? (
        <TemplatePreview projectId={projectId} template={saved} isOld={isDirty} />
      ) : (
        <p className="quiet-text">Once it is saved, it is shown here as it will look.</p>
      )}
    </div>
  );
};

export const NewTemplateScreen = () => {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const open = (name: string) =>
    void navigate({
      to: `/projects/${projectId}/mail/templates/${encodeURIComponent(name)}` as string,
      ignoreBlocker: true,
    });
  return (
    <Screen title="New mail template">
      <MailTabs />
      <Editor projectId={projectId} saved={undefined} onSaved={open} />
    </Screen>
  );
};

/** The words of one mail, beside how it looks. */
export const TemplateScreen = () => {
  const projectId = useProjectId();
  const { name = '' } = useParams({ strict: false }) as { name?: string };
  const input = { params: { projectId, name } };
  const template = useCall('getMailTemplate', input);
  return (
    <Screen title={name} actions={<ApiCall name="getMailTemplate" input={input} />}>
      <MailTabs />
      {template.data ? (
        <Editor key={name} projectId={projectId} saved={template.data} onSaved={() => {}} />
      ) : template.error ? (
        <Problem error={template.error} again={() => void template.refetch()} />
      ) : (
        <Loading />
      )}
    </Screen>
  );
};
