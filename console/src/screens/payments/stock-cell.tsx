import { type FormEvent, useState } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { useChange } from '../../api/queries.ts';
import { Takes } from '../../parts/takes.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { formatCount } from '../../parts/words/numbers.ts';

interface StockCellProps {
  projectId: string;
  product: Item<'listProducts'>;
}

/** "12": none of it is not counted. */
const parseStock = (text: string): number | null => (text.trim() === '' ? null : Number(text));

/** How many are left; a click sets it. */
export const StockCell = ({ projectId, product }: StockCellProps) => {
  const { id, name, amount, currency, stock, active } = product;
  const [text, setText] = useState<string>();
  const set = useChange('setProduct', { changes: ['listProducts'] });
  const put = (next: number | null) =>
    set.mutateAsync({
      project: projectId,
      params: { productId: id },
      body: { name, amount, currency, active, stock: next },
    });
  const save = async () => {
    await put(parseStock(text ?? ''));
    setText(undefined);
    notify(`Stock of ${name} is set`, { undo: () => put(stock).catch(notifyProblem) });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save().catch(notifyProblem);
  };
  if (text === undefined)
    return (
      <Takes name="setProduct">
        <button
          type="button"
          className="quiet small"
          onClick={() => setText(stock === null ? '' : String(stock))}
        >
          <span className="visually-hidden">Stock of {name}: </span>
          {stock === null ? 'not counted' : formatCount(stock)}
          {stock === 0 && <span className="badge bad">sold out</span>}
        </button>
      </Takes>
    );
  return (
    <form className="row nowrap" onSubmit={submit}>
      <input
        type="number"
        className="stock-field"
        aria-label={`Stock of ${name}`}
        placeholder="not counted"
        min={0}
        step={1}
        // biome-ignore lint/a11y/noAutofocus: the click that opens it means to type
        autoFocus
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={({ key }) => key === 'Escape' && setText(undefined)}
      />
      <button type="submit" className="small" disabled={set.isPending}>
        Set
      </button>
    </form>
  );
};
