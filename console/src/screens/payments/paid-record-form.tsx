import { type FormEvent, useState } from 'react';
import type { Input } from '../../api/operation-types.ts';
import { useChange } from '../../api/queries.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { notify } from '../../parts/toasts.tsx';
import { parseMoney } from '../../parts/words/money.ts';

type Body = Input<'setOnPaidRule'>['body'];
type Kind = 'items' | 'product' | 'amount';

const readPays = (kind: Kind, text: (name: string) => string): Body['pays'] => {
  if (kind === 'items') return 'items';
  if (kind === 'product') return { product: text('product') };
  const currency = text('currency').toLowerCase();
  if (!/^[a-z]{3}$/.test(currency)) throw new Error('A currency has three letters, such as USD.');
  return { amount: parseMoney(text('amount'), currency), currency };
};

const readSet = (text: string): Body['set'] => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('What is written has to be JSON, such as {"status": "paid"}.');
  }
};

/** What pays for records of a collection, and what it writes into them. */
export const PaidRecordForm = ({ projectId, onClose }: { projectId: string; onClose(): void }) => {
  const [kind, setKind] = useState<Kind>('items');
  const [wrong, setWrong] = useState<Error | null>(null);
  const set = useChange('setOnPaidRule', { changes: ['listOnPaidRules'] });
  const save = async (form: HTMLFormElement) => {
    setWrong(null);
    const fields = new FormData(form);
    const text = (name: string) => String(fields.get(name) ?? '').trim();
    const name = text('name');
    await set.mutateAsync({
      params: { projectId, name },
      body: {
        collection: text('collection'),
        set: readSet(text('set')),
        pays: readPays(kind, text),
      },
    });
    notify(`${name} is saved`);
    onClose();
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    save(event.currentTarget).catch(setWrong);
  };
  return (
    <Modal title="Create a rule for orders" isOpen onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field label="Name" hint="What checkouts name.">
          {(props) => (
            <input
              {...props}
              name="name"
              className="code"
              maxLength={63}
              placeholder="order"
              required
            />
          )}
        </Field>
        <Field label="Collection of the orders">
          {(props) => (
            <input {...props} name="collection" className="code" placeholder="orders" required />
          )}
        </Field>
        <Field label="Paid by">
          {(props) => (
            <select
              {...props}
              value={kind}
              onChange={({ target }) => setKind(target.value as Kind)}
            >
              <option value="items">The items that stand in the order, each a product</option>
              <option value="product">One product</option>
              <option value="amount">An amount at least</option>
            </select>
          )}
        </Field>
        {kind === 'product' && (
          <Field label="Id of the product">
            {(props) => <input {...props} name="product" className="code" required />}
          </Field>
        )}
        {kind === 'amount' && (
          <div className="row nowrap">
            <Field label="Amount">
              {(props) => (
                <input {...props} name="amount" inputMode="decimal" placeholder="5.00" required />
              )}
            </Field>
            <Field label="Currency">
              {(props) => (
                <input {...props} name="currency" maxLength={3} defaultValue="USD" required />
              )}
            </Field>
          </div>
        )}
        <Field label="Writes into the order" hint="Fields and their values, as JSON.">
          {(props) => (
            <input
              {...props}
              name="set"
              className="code"
              defaultValue='{"status": "paid"}'
              required
            />
          )}
        </Field>
        <Problem error={wrong} />
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={set.isPending}>
            Create rule
          </button>
        </footer>
      </form>
    </Modal>
  );
};
