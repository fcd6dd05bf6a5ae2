import { useState } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { useChange, usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { DeleteButton } from '../../parts/lists/delete-button.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { Screen } from '../../parts/screen.tsx';
import { Takes } from '../../parts/takes.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { useProjectId } from '../../parts/use-project-id.ts';
import { formatMoney } from '../../parts/words/money.ts';
import { PaymentTabs } from './payment-tabs.tsx';
import { ProductForm } from './product-form.tsx';
import { StockCell } from './stock-cell.tsx';
import './payments.css';
import { WideTable } from '../../parts/lists/wide-table.tsx';

type Product = Item<'listProducts'>;

const changes = ['listProducts'] as const;

interface ProductRowProps {
  projectId: string;
  product: Product;
  onEdit(): void;
}

const ProductRow = ({ projectId, product, onEdit }: ProductRowProps) => {
  const { id, name, amount, currency, stock, active } = product;
  const where = { project: projectId, params: { productId: id } };
  const body = { name, amount, currency, stock, active };
  const set = useChange('setProduct', { changes });
  const remove = useChange('deleteProduct', { changes });
  const removeIt = async () => {
    await remove.mutateAsync(where);
    notify(`${name} is deleted: checkouts that name it are refused`, {
      undo: () => set.mutateAsync({ ...where, body }).catch(notifyProblem),
    });
  };
  return (
    <tr>
      <td className="payment-items">
        <div className="row nowrap">
          <button type="button" className="link cut" onClick={onEdit}>
            {name}
          </button>
          {!active && <span className="badge">not for sale</span>}
        </div>
      </td>
      <td className="mono named">{id}</td>
      <td className="number">{formatMoney(amount, currency)}</td>
      <td>
        <StockCell projectId={projectId} product={product} />
      </td>
      <td className="number">
        <DeleteButton
          takes="deleteProduct"
          name={name}
          isPending={remove.isPending}
          onDelete={removeIt}
        />
      </td>
    </tr>
  );
};

/** What is for sale, at which price, and how much of it is left. */
export const ProductsScreen = () => {
  const projectId = useProjectId();
  const [edited, setEdited] = useState<Product | 'new'>();
  const pages = usePages('listProducts', { project: projectId, query: { limit: 100 } });
  const create = (
    <Takes name="setProduct">
      <button type="button" className="primary" onClick={() => setEdited('new')}>
        Create product
      </button>
    </Takes>
  );
  return (
    <Screen
      title="Products and stock"
      says="Prices that no buyer can change. What is sold is taken from the stock when the money arrives."
      actions={
        <>
          <ApiCall
            name="setProduct"
            input={{
              project: projectId,
              params: { productId: 'shirt' },
              body: { name: 'T-shirt', amount: 1999, stock: 25 },
            }}
          />
          {create}
        </>
      }
    >
      <PaymentTabs />
      <Listed
        pages={pages}
        empty={
          <Empty
            title="No products yet"
            action={create}
            snippet="client.payments.checkout({ items: [{ product: 'shirt' }], returnUrl: location.href })"
          >
            A checkout names a product, and pays what stands here. Without products the page that
            opens the checkout says the price.
          </Empty>
        }
      >
        {(products) => (
          <WideTable
            label="Products"
            columns={[
              'Name',
              'Id',
              { label: 'Price', isNumber: true },
              'In stock',
              { label: 'Actions', isHidden: true },
            ]}
          >
            {products.map((product) => (
              <ProductRow
                key={product.id}
                projectId={projectId}
                product={product}
                onEdit={() => setEdited(product)}
              />
            ))}
          </WideTable>
        )}
      </Listed>
      {edited && (
        <ProductForm
          projectId={projectId}
          product={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
    </Screen>
  );
};
