import { type FormEvent, useState } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { useFilters } from '../../parts/lists/filters.ts';
import { Listed } from '../../parts/lists/listed.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Screen } from '../../parts/screen.tsx';
import { useProjectId } from '../../parts/use-project-id.ts';
import { Time } from '../../parts/words/time.tsx';
import { inOrder } from '../../parts/words/visible-text.ts';
import { MailDetails } from './mail-details.tsx';
import { MailState, mailStates } from './mail-state.tsx';
import { MailTabs } from './mail-tabs.tsx';
import { SendingState } from './sending-state.tsx';
import './mail.css';

type Mail = Item<'listEmails'>;

const refreshMs = 5000;

const firstMail = (
  projectId: string,
) => `curl -s ${location.origin}/api/runtime/${projectId}/email/send \\
  -H "Authorization: Bearer $TOKEN" \\
  --json '{"to":"owner","subject":"Hello","html":"<p>It works.</p>"}'`;

const Filter = () => {
  const [{ status = '', email = '' }, change] = useFilters();
  const search = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    change({ email: String(new FormData(event.currentTarget).get('email')).trim() });
  };
  return (
    <div className="row">
      <form className="row nowrap" onSubmit={search}>
        <input
          key={email}
          name="email"
          type="search"
          className="search-box"
          data-search
          aria-label="Address of a recipient"
          aria-keyshortcuts="/"
          placeholder="Address of a recipient  /"
          defaultValue={email}
        />
        <button type="submit">Find</button>
      </form>
      <select
        className="state-filter"
        aria-label="State"
        value={status}
        onChange={({ target }) => change({ status: target.value })}
      >
        <option value="">All states</option>
        {Object.entries(mailStates).map(([state, { label }]) => (
          <option key={state} value={state}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
};

const MailRow = ({ mail, onOpen }: { mail: Mail; onOpen(): void }) => (
  <tr>
    <td className="mail-subject">
      <button type="button" className="link cut" onClick={onOpen}>
        {inOrder(mail.subject)}
      </button>
      {mail.error && <div className="quiet-text cut">{mail.error}</div>}
    </td>
    <td className="mail-to">
      <div className="cut" title={mail.to.join(', ')}>
        {mail.to.join(', ')}
      </div>
    </td>
    <td>
      <MailState state={mail.status} />
    </td>
    <td>
      <Time at={mail.createdAt} />
    </td>
  </tr>
);

/** What was sent, what failed, and why. */
export const MailScreen = () => {
  const projectId = useProjectId();
  const [{ status, email }, change] = useFilters();
  const [open, setOpen] = useState<Mail>();
  const input = { params: { projectId }, query: { status, email } };
  const pages = usePages('listEmails', input, { everyMs: refreshMs });
  const isFiltered = status !== undefined || email !== undefined;
  return (
    <Screen
      title="Mail"
      says="What your app and the platform have sent to people in its name, kept for 30 days."
      actions={<ApiCall name="listEmails" input={input} />}
    >
      <MailTabs />
      <SendingState projectId={projectId} />
      <Filter />
      <Listed
        pages={pages}
        empty={
          isFiltered ? (
            <Empty
              title="No such mails"
              action={
                <button
                  type="button"
                  onClick={() => change({ status: undefined, email: undefined })}
                >
                  Show all mails
                </button>
              }
            >
              Nothing of the last 30 days is in this state and went to this address.
            </Empty>
          ) : (
            <Empty title="No mails yet" snippet={firstMail(projectId)}>
              Mails that your app sends stand here with their state. This one goes to you:
            </Empty>
          )
        }
      >
        {(mails) => (
          <WideTable label="Mails" columns={['Subject', 'To', 'State', 'When']}>
            {mails.map((mail) => (
              <MailRow key={mail.id} mail={mail} onOpen={() => setOpen(mail)} />
            ))}
          </WideTable>
        )}
      </Listed>
      {open && <MailDetails mail={open} onClose={() => setOpen(undefined)} />}
    </Screen>
  );
};
