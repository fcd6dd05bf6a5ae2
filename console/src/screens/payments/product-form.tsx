import { type FormEvent, useState } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { useChange } from '../../api/queries.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Takes } from '../../parts/takes.tsx';
import { notify } from '../../parts/toasts.tsx';
import { parseMoney, toMoneyText } from '../../parts/words/money.ts';

interface ProductFormProps {
  projectId: string;
  product: Item<'listProducts'> | undefined;
  onClose(): void;
}

const readForm = (form: HTMLFormElement) => {
  const fields = new FormData(form);
  const text = (name: string) => String(fields.get(name) ?? '').trim();
  const currency = text('currency').toLowerCase();
  if (!/^[a-z]{3}$/.test(currency)) throw new Error('A currency has three letters, such as USD.');
  return {
    name: text('name'),
    amount: parseMoney(text('price'), currency),
    currency,
    active: fields.has('active'),
  };
};

/** Name and price of a product; its stock is set in the list. */
export const ProductForm = ({ projectId, product, onClose }: ProductFormProps) => {
  const [wrong, setWrong] = useState<Error | null>(null);
  const set = useChange('setProduct', { changes: ['listProducts'] });
  const save = async (form: HTMLFormElement) => {
    setWrong(null);
    const body = readForm(form);
    const productId = product?.id ?? String(new FormData(form).get('id')).trim();
    // Without stock: what is sold meanwhile stays taken.
    await set.mutateAsync({ project: projectId, params: { productId }, body });
    notify(`${body.name} is saved`);
    onClose();
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    save(event.currentTarget).catch(setWrong);
  };
  const { currency = 'usd' } = product ?? {};
  return (
    <Modal title={product ? `Change ${product.name}` : 'Create a product'} isOpen onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        {!product && (
          <Field label="Id" hint="What checkouts name. A product that has it already is replaced.">
            {(props) => (
              <input
                {...props}
                name="id"
                className="code"
                maxLength={64}
                placeholder="shirt"
                required
              />
            )}
          </Field>
        )}
        <Field label="Name" hint="As the payer reads it.">
          {(props) => (
            <input {...props} name="name" maxLength={250} defaultValue={product?.name} required />
          )}
        </Field>
        <div className="row nowrap">
          <Field label="Price">
            {(props) => (
              <input
                {...props}
                name="price"
                inputMode="decimal"
                placeholder="19.99"
                defaultValue={product && toMoneyText(product.amount, currency)}
                required
              />
            )}
          </Field>
          <Field label="Currency">
            {(props) => (
              <input
                {...props}
                name="currency"
                maxLength={3}
                defaultValue={currency.toUpperCase()}
                required
              />
            )}
          </Field>
        </div>
        <label className="check">
          <input type="checkbox" name="active" defaultChecked={product?.active ?? true} />
          <span>For sale: shown to everybody, and taken by checkouts</span>
        </label>
        <Problem error={wrong} />
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <Takes name="setProduct">
            <button type="submit" className="primary" disabled={set.isPending}>
              Save product
            </button>
          </Takes>
        </footer>
      </form>
    </Modal>
  );
};
