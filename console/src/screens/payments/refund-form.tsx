import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { call } from '../../api/call.ts';
import type { Input, Item } from '../../api/operation-types.ts';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Takes } from '../../parts/takes.tsx';
import { notify } from '../../parts/toasts.tsx';
import { formatMoney, parseMoney, toMoneyText } from '../../parts/words/money.ts';

type Payment = Item<'listPayments'>;
type Body = NonNullable<Input<'refundPayment'>['body']>;

interface RefundFormProps {
  projectId: string;
  payment: Payment;
  /** What has not gone back yet, in the smallest unit. */
  left: number;
}

/** What was bought of each product. */
const countProducts = ({ items }: Payment) => {
  const counts = new Map<string, number>();
  for (const { product, quantity } of items)
    if (product) counts.set(product, (counts.get(product) ?? 0) + quantity);
  return [...counts].map(([product, quantity]) => ({ product, quantity }));
};

/** Gives all or a part back. */
export const RefundForm = ({ projectId, payment, left }: RefundFormProps) => {
  const { id: paymentId, currency } = payment;
  const client = useQueryClient();
  const [text, setText] = useState(toMoneyText(left, currency));
  const [wrong, setWrong] = useState<Error | null>(null);
  // One for what is asked for here: sent twice it is one refund.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const bought = countProducts(payment);
  const refund = useMutation({
    mutationFn: (body: Body) =>
      call(
        'refundPayment',
        { params: { projectId, paymentId }, body },
        { headers: { 'Idempotency-Key': key } },
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ['listPayments'] }),
  });
  const change = (next: string) => {
    setText(next);
    setKey(crypto.randomUUID());
  };
  const giveBack = async (form: HTMLFormElement) => {
    setWrong(null);
    const fields = new FormData(form);
    const amount = parseMoney(text, currency);
    const restock = bought.filter(({ product }) => fields.has(`restock ${product}`));
    const money = formatMoney(amount, currency);
    const isSure = await confirm({
      title: `Give ${money} back?`,
      says: `${payment.livemode ? 'It goes back to the payer’s card or account' : 'This is a test: no real money moves'}. It can not be taken back.`,
      action: `Give ${money} back`,
      isDangerous: true,
    });
    if (!isSure) return;
    await refund.mutateAsync({ amount, ...(restock.length > 0 && { restock }) });
    notify(`${money} goes back`);
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    giveBack(event.currentTarget).catch(setWrong);
  };
  return (
    <Takes name="refundPayment">
      <form className="stack" aria-label="Give back" onSubmit={submit}>
        <Field
          label={`Give back, in ${currency.toUpperCase()}`}
          hint={`All that is left is ${formatMoney(left, currency)}; a part is possible, several times.`}
        >
          {(props) => (
            <input
              {...props}
              inputMode="decimal"
              required
              value={text}
              onChange={({ target }) => change(target.value)}
            />
          )}
        </Field>
        {bought.length > 0 && (
          <fieldset className="plain stack close">
            <legend className="label">Goes back into the stock</legend>
            {bought.map(({ product, quantity }) => (
              <label key={product} className="check">
                <input
                  type="checkbox"
                  name={`restock ${product}`}
                  onChange={() => setKey(crypto.randomUUID())}
                />
                <span>
                  {quantity} × <span className="mono">{product}</span>
                </span>
              </label>
            ))}
          </fieldset>
        )}
        <Problem error={wrong} />
        <div className="row">
          <button type="submit" className="danger" disabled={refund.isPending}>
            Give back…
          </button>
        </div>
      </form>
    </Takes>
  );
};
