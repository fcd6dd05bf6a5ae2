import type { ReactNode } from 'react';

type Column = string | { label: string; isNumber?: boolean; isHidden?: boolean };

interface WideTableProps {
  /** What it lists, for screen readers: "Users". */
  label: string;
  /** Of the head; `isHidden` ones, such as that of buttons, for screen readers alone. */
  columns: readonly Column[];
  /** Its rows. */
  children: ReactNode;
}

const Head = ({ column }: { column: Column }) => {
  const { label, isNumber, isHidden } = typeof column === 'string' ? { label: column } : column;
  return (
    <th scope="col" className={isNumber ? 'number' : undefined}>
      {isHidden ? <span className="visually-hidden">{label}</span> : label}
    </th>
  );
};

/** A table that scrolls by itself where it is wider than the page. */
export const WideTable = ({ label, columns, children }: WideTableProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the arrows
  <section className="scroll-x" tabIndex={0} aria-label={label}>
    <table className="table">
      <thead>
        <tr>
          {columns.map((column) => (
            <Head key={typeof column === 'string' ? column : column.label} column={column} />
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </section>
);
