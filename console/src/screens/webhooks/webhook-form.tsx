import { appEventTypes } from 'virtual:contract';
import { type FormEvent, useState } from 'react';
import type { Answer, Input, Item } from '../../api/operation-types.ts';
import { useChange } from '../../api/queries.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';

type Webhook = Item<'listWebhooks'>;
type Body = Input<'setWebhook'>['body'];

interface WebhookFormProps {
  projectId: string;
  /** Undefined: a new one. */
  webhook?: Webhook;
  onClose(): void;
  onSaved(answer: Answer<'setWebhook'>): void;
}

const isOfRecords = (type: string) => type.startsWith('record.');

/** Collections of which a type of records is told alone, as they are typed: "orders, todos". */
const collectionsIn = (on: readonly string[], type: string) =>
  on
    .filter((wanted) => wanted.startsWith(`${type}:`))
    .map((wanted) => wanted.slice(type.length + 1))
    .join(', ');

const toTypes = (type: string, collections: string): string[] => {
  const names = collections.split(/[\s,]+/).filter((name) => name !== '');
  return names.length === 0 ? [type] : names.map((name) => `${type}:${name}`);
};

const parseWhere = (text: string): Body['where'] => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('The condition has to be JSON, such as {"status": "paid"}.');
  }
};

const readForm = (form: HTMLFormElement): Body => {
  const fields = new FormData(form);
  const where = String(fields.get('where') ?? '').trim();
  return {
    url: String(fields.get('url')).trim(),
    on: appEventTypes
      .filter((type) => fields.has(type))
      .flatMap((type) => toTypes(type, String(fields.get(`${type} collections`) ?? ''))),
    ...(where && { where: parseWhere(where) }),
  };
};

interface EventChoiceProps {
  type: string;
  on: readonly string[];
}

const EventChoice = ({ type, on }: EventChoiceProps) => {
  const isOn = on.some((wanted) => wanted === type || wanted.startsWith(`${type}:`));
  const [isTicked, setTicked] = useState(isOn);
  return (
    <div className="stack close">
      <label className="check">
        <input
          type="checkbox"
          name={type}
          checked={isTicked}
          onChange={({ target }) => setTicked(target.checked)}
        />
        <span className="mono">{type}</span>
      </label>
      {isTicked && isOfRecords(type) && (
        <input
          name={`${type} collections`}
          className="code"
          aria-label={`Collections of ${type}`}
          placeholder="of all collections, or: orders, todos"
          defaultValue={collectionsIn(on, type)}
        />
      )}
    </div>
  );
};

/** Where to, and what is told. */
export const WebhookForm = ({ projectId, webhook, onClose, onSaved }: WebhookFormProps) => {
  const [wrong, setWrong] = useState<Error | null>(null);
  const set = useChange('setWebhook', { changes: ['listWebhooks', 'getWebhook'] });
  const save = async (form: HTMLFormElement) => {
    setWrong(null);
    const name = webhook?.name ?? String(new FormData(form).get('name'));
    onSaved(await set.mutateAsync({ params: { projectId, name }, body: readForm(form) }));
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    save(event.currentTarget).catch(setWrong);
  };
  const on = webhook?.on ?? [];
  return (
    <Modal
      title={webhook ? `Change ${webhook.name}` : 'Create a webhook'}
      isOpen
      onClose={onClose}
      isWide
    >
      <form className="stack" onSubmit={submit}>
        {!webhook && (
          <Field label="Name">
            {(props) => (
              <input
                {...props}
                name="name"
                className="code"
                maxLength={63}
                placeholder="orders"
                required
              />
            )}
          </Field>
        )}
        <Field
          label="Address"
          hint="https, and public; a backend on your own machine (pnpm dev) reaches http://localhost too. It answers 2xx within 10 seconds."
        >
          {(props) => (
            <input
              {...props}
              name="url"
              className="code"
              inputMode="url"
              maxLength={2000}
              placeholder="https://example.org/backlot"
              defaultValue={webhook?.url}
              required
            />
          )}
        </Field>
        <fieldset className="plain">
          <legend className="label">What is told</legend>
          <div className="events">
            {appEventTypes.map((type) => (
              <EventChoice key={type} type={type} on={on} />
            ))}
          </div>
        </fieldset>
        <Field
          label="Only records that match"
          hint="A condition as in a list; it goes with events of records alone. Empty: all."
        >
          {(props) => (
            <input
              {...props}
              name="where"
              className="code"
              placeholder='{"status": "paid"}'
              defaultValue={webhook?.where ? JSON.stringify(webhook.where) : ''}
            />
          )}
        </Field>
        <Problem error={wrong} />
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={set.isPending}>
            {webhook ? 'Save webhook' : 'Create webhook'}
          </button>
        </footer>
      </form>
    </Modal>
  );
};
