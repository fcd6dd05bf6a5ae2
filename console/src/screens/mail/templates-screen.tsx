import { Link } from '@tanstack/react-router';
import { call } from '../../api/call.ts';
import type { Item } from '../../api/operation-types.ts';
import { useChange, usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { DeleteButton } from '../../parts/lists/delete-button.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { Screen } from '../../parts/screen.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { useProjectId } from '../../parts/use-project-id.ts';
import { Time } from '../../parts/words/time.tsx';
import { MailTabs } from './mail-tabs.tsx';
import { toBody } from './template-form.ts';
import './mail.css';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { inOrder } from '../../parts/words/visible-text.ts';

type Template = Item<'listMailTemplates'>;

const recipients = {
  caller: 'the user who sends it',
  owner: 'you',
  anyone: 'whom the call names',
} as const;

const TemplateRow = ({ projectId, item }: { projectId: string; item: Template }) => {
  const { name, subject, to, callers, updatedAt } = item;
  const params = { projectId, name };
  const changes = ['listMailTemplates', 'getMailTemplate'] as const;
  const set = useChange('setMailTemplate', { changes });
  const remove = useChange('deleteMailTemplate', { changes });
  const removeIt = async () => {
    const whole = await call('getMailTemplate', { params });
    await remove.mutateAsync({ params });
    notify(`${name} is deleted: calls that name it are refused`, {
      undo: () => set.mutateAsync({ params, body: toBody(whole) }).catch(notifyProblem),
    });
  };
  return (
    <tr>
      <td className="mono named">
        <Link to={`/projects/${projectId}/mail/templates/${encodeURIComponent(name)}` as string}>
          {name}
        </Link>
      </td>
      <td className="mail-subject">
        <div className="cut">{inOrder(subject)}</div>
      </td>
      <td>{to ? recipients[to] : 'the account'}</td>
      <td>{to ? (callers ?? ['users']).join(', ') || 'you alone' : 'the platform'}</td>
      <td>
        <Time at={updatedAt} />
      </td>
      <td className="number">
        <DeleteButton
          takes="deleteMailTemplate"
          name={name}
          isPending={remove.isPending}
          onDelete={removeIt}
        />
      </td>
    </tr>
  );
};

/** Mails whose words are the owner's alone. */
export const TemplatesScreen = () => {
  const projectId = useProjectId();
  const input = { params: { projectId } };
  const pages = usePages('listMailTemplates', input);
  const create = (
    <Link className="button primary" to={`/projects/${projectId}/mail/new-template` as string}>
      Create template
    </Link>
  );
  return (
    <Screen
      title="Mail templates"
      says="Words of yours for mails of your app: a call names the template and says what stands in its fields, and no visitor can send anything else."
      actions={
        <>
          <ApiCall name="listMailTemplates" input={input} />
          {create}
        </>
      }
    >
      <MailTabs />
      {pages.first?.advice && <div className="callout info">{pages.first.advice}</div>}
      <Listed
        pages={pages}
        empty={
          <Empty title="No templates yet" action={create}>
            As long as there is none, visitors may send words of their own in your name. Templates
            named account.verify, account.reset and so on word the mails of accounts.
          </Empty>
        }
      >
        {(templates) => (
          <WideTable
            label="Templates"
            columns={[
              'Name',
              'Subject',
              'Goes to',
              'Sent by',
              'Changed',
              { label: 'Actions', isHidden: true },
            ]}
          >
            {templates.map((item) => (
              <TemplateRow key={item.name} projectId={projectId} item={item} />
            ))}
          </WideTable>
        )}
      </Listed>
    </Screen>
  );
};
