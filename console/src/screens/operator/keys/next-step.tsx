import { useState } from 'react';
import { call } from '../../../api/call.ts';
import { useChange } from '../../../api/queries.ts';
import { Problem } from '../../../parts/problem.tsx';
import { Snippet } from '../../../parts/snippet.tsx';
import { notify } from '../../../parts/toasts.tsx';
import { countWords } from '../../../parts/words/numbers.ts';
import { type MasterKey, type SealedSecrets, sumOf, toKeys } from './rings.ts';

const values = (count: number) => countWords(count, 'sealed value');
const lie = (count: number) => (count === 1 ? 'lies' : 'lie');

/** What no key opens: how it comes back. */
const Lost = ({ count, keys }: { count: number; keys: readonly MasterKey[] }) => (
  <div className="callout bad">
    <strong>{values(count)} can not be opened.</strong>
    <p>
      What sealed {count === 1 ? 'it' : 'them'} is not in the ring. Put it behind the others there
      and exchange the processes. If it is gone, owners set these secrets anew, and users their
      second factors.
    </p>
    <ul>
      {keys.map(({ setting, keyId }) => (
        <li key={setting + keyId}>
          {keyId === null ? 'A key of' : <code>{keyId}</code>} <code>{setting}</code>
        </li>
      ))}
    </ul>
  </div>
);

/** Calls until nothing lies under an older key. */
const Reseal = ({ count }: { count: number }) => {
  const [done, setDone] = useState(0);
  const reseal = useChange('resealSecrets', { as: 'operator', changes: ['getSealedSecrets'] });
  const run = async () => {
    setDone(0);
    let total = 0;
    let answer = await reseal.mutateAsync({});
    const resealed = () => answer.services.reduce((sum, one) => sum + one.resealed, 0);
    for (;;) {
      total += resealed();
      setDone(total);
      if (sumOf(answer, 'old') === 0 || resealed() === 0) break;
      answer = await call('resealSecrets', {}, { as: 'operator' });
    }
    notify(`Sealed again: ${values(total)}`);
  };
  return (
    <div className="callout warn">
      <strong>
        {values(count)} {lie(count)} under an older key.
      </strong>
      <p>
        First exchange every process, so that all have the newest key. Then seal again; it may be
        left at any time.
      </p>
      <div className="row">
        <button
          type="button"
          className="primary"
          disabled={reseal.isPending}
          onClick={() => void run().catch(() => undefined)}
        >
          Seal again
        </button>
        {reseal.isPending && <span role="status">{values(done)} so far…</span>}
      </div>
      <Problem error={reseal.error} />
    </div>
  );
};

/** What the state of the rings asks for. */
export const NextStep = ({ data }: { data: SealedSecrets }) => {
  const keys = toKeys(data);
  const [old, lost] = [sumOf(data, 'old'), sumOf(data, 'lost')];
  const { missing } = data;
  const hasOlder = keys.some(({ state }) => state === 'old' || state === 'mixed');
  return (
    <>
      {missing.length > 0 && (
        <div className="callout warn">
          Not counted, because no answer came: {missing.join(', ')}. Drop no key meanwhile.
        </div>
      )}
      {lost > 0 && <Lost count={lost} keys={keys.filter(({ state }) => state === 'lost')} />}
      {old > 0 && <Reseal count={old} />}
      {old === 0 && lost === 0 && missing.length === 0 && (
        <div className="callout good" role="status">
          {hasOlder
            ? 'Nothing lies under an older key: it can be dropped. Keep it where keys are kept for as long as there are back-ups from before.'
            : 'Everything is sealed under the newest keys.'}
        </div>
      )}
      {old === 0 && missing.length === 0 && (
        <>
          <p className="quiet-text">
            {hasOlder
              ? 'Next, then exchange the processes:'
              : 'To exchange the keys, put a new one in front of each ring, exchange the processes, and come back here:'}
          </p>
          <Snippet
            text={`pnpm ops rotate-master ${hasOlder ? 'drop' : 'add'} --file .env\nnpx -y pnpm@12 rollout`}
          />
        </>
      )}
    </>
  );
};
