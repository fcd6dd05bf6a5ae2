import { useCall } from '../../../api/queries.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Screen } from '../../../parts/screen.tsx';
import { formatCount } from '../../../parts/words/numbers.ts';
import { NextStep } from './next-step.tsx';
import { type MasterKey, toKeys } from './rings.ts';
import '../operator.css';

const states = {
  current: { tone: 'good', words: 'seals' },
  old: { tone: '', words: 'only opens' },
  lost: { tone: 'bad', words: 'not in the ring' },
  mixed: { tone: 'warn', words: 'not the same in all services' },
} as const;

const KeyRow = ({ keyId, setting, state, sealed, services }: MasterKey) => (
  <tr>
    <td>{keyId === null ? <span className="quiet-text">unknown</span> : <code>{keyId}</code>}</td>
    <td>
      <code>{setting}</code>
    </td>
    <td>
      <span className={`badge ${states[state].tone}`}>{states[state].words}</span>
    </td>
    <td className="number">{formatCount(sealed)}</td>
    <td>{services.map((one) => `${one.service} ${formatCount(one.sealed)}`).join(', ') || '–'}</td>
  </tr>
);

/** Which master keys are in use, what lies under each, and what to do next. */
export const MasterKeysScreen = () => {
  const { data, error, refetch } = useCall('getSealedSecrets', {}, { as: 'operator' });
  return (
    <Screen
      title="Master keys"
      says="They seal what is entrusted to the platform: keys that sign tokens, secrets of providers and webhooks, second factors. Keys are never shown; an id says which one it is, as in a back-up."
      actions={<ApiCall name="getSealedSecrets" input={{}} as="operator" />}
    >
      <Problem error={error} again={() => void refetch()} />
      {!data && !error && <Loading />}
      {data && (
        <>
          <NextStep data={data} />
          <WideTable
            label="Master keys"
            columns={[
              'Key id',
              'Setting',
              'State',
              { label: 'Sealed values', isNumber: true },
              'Of services',
            ]}
          >
            {toKeys(data).map((key) => (
              <KeyRow key={`${key.setting} ${key.keyId}`} {...key} />
            ))}
          </WideTable>
        </>
      )}
    </Screen>
  );
};
