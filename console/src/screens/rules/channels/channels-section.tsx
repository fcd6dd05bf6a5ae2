import { useState } from 'react';
import type { Answer } from '../../../api/operation-types.ts';
import { useCall, useChange } from '../../../api/queries.ts';
import { Problem } from '../../../parts/problem.tsx';
import { Takes } from '../../../parts/takes.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import { useUnsaved } from '../../../parts/use-unsaved.ts';
import { Who } from '../words/who.tsx';

type Channels = NonNullable<Answer<'getProject'>['settings']['channels']>;
type Rule = Channels[string];

const words = ['anyone', 'users', 'verified', 'group'];

interface ChannelProps {
  pattern: string;
  rule: Rule;
  roles: readonly string[];
  onChange(rule: Rule | undefined): void;
}

const Channel = ({ pattern, rule, roles, onChange }: ChannelProps) => {
  const who = (title: string, entries: readonly string[], set: (words: string[]) => Rule) => (
    <Who
      title={title}
      entries={entries}
      offered={words}
      roles={roles}
      takesConditions={false}
      onChange={(next) => onChange(set(next.filter((word) => typeof word === 'string')))}
    />
  );
  const { listen, broadcast = [], presence = broadcast } = rule;
  return (
    <div className="channel">
      <div className="spread">
        <h3 className="mono">{pattern}</h3>
        <button type="button" className="small" onClick={() => onChange(undefined)}>
          Close these channels
        </button>
      </div>
      {who('Who hears', listen, (next) => ({ ...rule, listen: next }))}
      {who('Who says something', broadcast, (next) => ({ ...rule, broadcast: next }))}
      {who('Who is shown as there', presence, (next) => ({ ...rule, presence: next }))}
    </div>
  );
};

const ChannelsForm = ({
  projectId,
  saved,
  roles,
}: {
  projectId: string;
  saved: Channels;
  roles: readonly string[];
}) => {
  const [draft, setDraft] = useState<Channels>(saved);
  const [pattern, setPattern] = useState('');
  const update = useChange('updateProject', { changes: ['getProject'] });
  const save = (channels: Channels) =>
    update.mutateAsync({ params: { projectId }, body: { settings: { channels } } });
  const set = (name: string, rule: Rule | undefined) => {
    const { [name]: _, ...others } = draft;
    setDraft(rule ? { ...draft, [name]: rule } : others);
  };
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved);
  useUnsaved(isChanged);
  const names = [...new Set([...Object.keys(saved), ...Object.keys(draft)])];
  const changed = names.filter(
    (name) => JSON.stringify(draft[name]) !== JSON.stringify(saved[name]),
  );
  return (
    <>
      {Object.entries(draft).map(([name, rule]) => (
        <Channel
          key={name}
          pattern={name}
          rule={rule}
          roles={roles}
          onChange={(next) => set(name, next)}
        />
      ))}
      <form
        className="row channel"
        onSubmit={(event) => {
          event.preventDefault();
          set(pattern, { listen: ['users'], broadcast: ['users'] });
          setPattern('');
        }}
      >
        <input
          aria-label="Channels to open"
          placeholder="room:*"
          value={pattern}
          maxLength={100}
          required
          onChange={({ target }) => setPattern(target.value)}
        />
        <button type="submit" disabled={pattern in draft}>
          Open channels
        </button>
        <span className="quiet-text">
          A name, or how names begin and a star. What no rule is for is closed, but to members of{' '}
          <code>group:&lt;id&gt;</code>.
        </span>
      </form>
      <Problem error={update.error} />
      {isChanged && (
        <div className="spread rules-bar" role="status">
          <span>Not saved: {changed.join(', ')}</span>
          <span className="row">
            <button type="button" onClick={() => setDraft(saved)}>
              Discard
            </button>
            <button
              type="button"
              className="primary"
              disabled={update.isPending}
              onClick={() =>
                void save(draft).then(
                  () =>
                    notify('The rules of channels are saved', {
                      undo: () => save(saved).catch(notifyProblem),
                    }),
                  () => {},
                )
              }
            >
              Save channels
            </button>
          </span>
        </div>
      )}
    </>
  );
};

/** The setting `channels`: who hears and says what. */
export const ChannelsSection = ({ projectId }: { projectId: string }) => {
  const project = useCall('getProject', { params: { projectId } });
  const roles = useCall('listRoles', { params: { projectId } });
  const saved = project.data?.settings.channels ?? {};
  return (
    <section className="section">
      <Takes name="updateProject">
        <h2>Channels</h2>
        <p className="quiet-text">
          What is said in a channel reaches whoever listens now, and is kept nowhere: who types, who
          is here.
        </p>
        {project.data && (
          <ChannelsForm
            key={JSON.stringify(saved)}
            projectId={projectId}
            saved={saved}
            roles={(roles.data?.items ?? []).map(({ name }) => name)}
          />
        )}
      </Takes>
    </section>
  );
};
