import { type FormEvent, useState } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { useChange } from '../../api/queries.ts';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { Time } from '../../parts/words/time.tsx';

export type Suspension = NonNullable<Item<'listProjects'>['suspensions']>[number];
type Capability = Suspension['capability'];

export const suspendedWords: Readonly<Record<Capability, string>> = {
  all: 'Everything',
  mail: 'Mail',
  ai: 'AI',
  uploads: 'Uploads',
  writes: 'Writing',
  payments: 'Payments',
};

interface SuspensionsProps {
  /** Of which owner or project. */
  of: { ownerId: string } | { projectId: string };
  suspensions: readonly Suspension[];
  /** Chosen in the form at first; everything unless stated. */
  firstCapability?: Capability;
}

const reads = [
  'getProject',
  'listProjects',
  'listSuspensions',
  'listAudit',
  'listFindings',
] as const;

/** What is suspended, with a way to lift it, and a form for more. */
export const Suspensions = ({ of, suspensions, firstCapability = 'all' }: SuspensionsProps) => {
  const isOwner = 'ownerId' in of;
  const [capability, setCapability] = useState(firstCapability);
  const [reason, setReason] = useState('');
  const options = { as: 'operator', changes: reads } as const;
  const suspendOwner = useChange('suspendOwner', options);
  const suspendProject = useChange('suspendProject', options);
  const liftOwner = useChange('liftOwner', options);
  const liftProject = useChange('liftProject', options);
  const suspending = isOwner ? suspendOwner : suspendProject;
  const own = suspensions.filter((one) => (one.of === 'owner') === isOwner);

  const suspend = async (event: FormEvent) => {
    event.preventDefault();
    const isSure = await confirm({
      title: `Suspend ${capability === 'ai' ? 'AI' : suspendedWords[capability].toLowerCase()}?`,
      says: isOwner
        ? 'It holds for all projects of this owner within seconds. They read the reason; only you can lift it.'
        : 'It holds for this project and its previews within seconds. Its owner reads the reason; only you can lift it.',
      action: 'Suspend',
      isDangerous: true,
    });
    if (!isSure) return;
    const body = { capability, reason };
    await ('ownerId' in of
      ? suspendOwner.mutateAsync({ params: of, body })
      : suspendProject.mutateAsync({ params: of, body }));
    setReason('');
    notify('It is suspended');
  };
  const lift = async (lifted: Capability) => {
    const body = { capability: lifted };
    await ('ownerId' in of
      ? liftOwner.mutateAsync({ params: of, body })
      : liftProject.mutateAsync({ params: of, body }));
    notify('The suspension is lifted');
  };

  return (
    <section className="section" aria-labelledby="suspensions">
      <h2 id="suspensions">Suspension</h2>
      {suspensions.map((one) => (
        <div className="callout bad spread" key={`${one.of} ${one.capability}`}>
          <div>
            <strong>{suspendedWords[one.capability]}</strong> suspended <Time at={one.since} />
            {one.of === 'owner' && !isOwner && ' with all projects of the owner'}: {one.reason}
          </div>
          {own.includes(one) && (
            <button type="button" onClick={() => void lift(one.capability).catch(notifyProblem)}>
              Lift
            </button>
          )}
        </div>
      ))}
      <form
        className="stack close"
        onSubmit={(event) => void suspend(event).catch(() => undefined)}
      >
        <div className="row grant">
          <Field label="What">
            {(props) => (
              <select
                {...props}
                value={capability}
                onChange={({ target }) => setCapability(target.value as Capability)}
              >
                {Object.entries(suspendedWords).map(([value, words]) => (
                  <option key={value} value={value}>
                    {words}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Reason, which the owner reads">
            {(props) => (
              <input
                {...props}
                required
                maxLength={500}
                value={reason}
                onChange={({ target }) => setReason(target.value)}
              />
            )}
          </Field>
          <button type="submit" className="danger" disabled={suspending.isPending}>
            Suspend…
          </button>
        </div>
        <Problem error={suspending.error} />
      </form>
    </section>
  );
};
