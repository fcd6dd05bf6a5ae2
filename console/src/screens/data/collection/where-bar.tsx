import { useEffect, useState } from 'react';
import type { Column } from '../grid/columns.ts';
import type { CollectionSearch } from './address.ts';
import { readTyped } from './where-text.ts';

interface WhereBarProps {
  search: Pick<CollectionSearch, 'where' | 'search'>;
  columns: readonly Column[];
  canSearch: boolean;
  onChange(search: Pick<CollectionSearch, 'where' | 'search'>): void;
  onLeave(): void;
}

const toText = ({ where, search }: WhereBarProps['search']) =>
  where ? JSON.stringify(where) : (search ?? '');

/** The filter as text: what clicks have made of it, and what one types. The key `/` leads into it. */
export const WhereBar = ({ search, columns, canSearch, onChange, onLeave }: WhereBarProps) => {
  const shown = toText(search);
  const [text, setText] = useState(shown);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    setText(shown);
    setProblem(undefined);
  }, [shown]);
  const apply = (next: string) => {
    const typed = readTyped(next, columns, canSearch);
    if ('problem' in typed) return setProblem(typed.problem);
    setProblem(undefined);
    onChange(typed);
  };
  return (
    <form
      className="where"
      onSubmit={(event) => {
        event.preventDefault();
        apply(text);
      }}
    >
      <div className="where-line">
        <input
          className="code"
          data-search
          aria-label="Filter"
          aria-keyshortcuts="/"
          aria-invalid={problem !== undefined}
          aria-describedby={problem && 'where-problem'}
          placeholder={'Words, or a filter: {"done": false}  /'}
          value={text}
          maxLength={8192}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            setText(shown);
            setProblem(undefined);
            onLeave();
          }}
        />
        {text !== shown && (
          <button type="submit" className="primary">
            Filter
          </button>
        )}
        {shown !== '' && text === shown && (
          <button type="button" onClick={() => onChange({})}>
            Show all
          </button>
        )}
      </div>
      {problem && (
        <div className="problem" id="where-problem" role="alert">
          {problem}
        </div>
      )}
    </form>
  );
};
