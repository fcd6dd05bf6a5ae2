import { useState } from 'react';
import { Problem } from './problem.tsx';
import { type Filter, filters, useTodos } from './use-todos.ts';

export const TodoList = () => {
  const [filter, setFilter] = useState<Filter>('all');
  const { items, problem, pending, forgetProblem, add, setDone, remove } = useTodos(filter);
  const [title, setTitle] = useState('');

  return (
    <>
      <form
        className="row"
        onSubmit={async (event) => {
          event.preventDefault();
          setTitle('');
          if (!(await add(title))) setTitle((typed) => typed || title);
        }}
      >
        <input
          aria-label="New to-do"
          value={title}
          onChange={({ target }) => setTitle(target.value)}
          maxLength={200}
          required
        />
        <button type="submit" className="main">
          Add
        </button>
      </form>
      <fieldset className="row">
        <legend>Show</legend>
        {Object.entries(filters).map(([value, label]) => (
          <label key={value}>
            <input
              type="radio"
              name="filter"
              checked={filter === value}
              onChange={() => setFilter(value as Filter)}
            />{' '}
            {label}
          </label>
        ))}
      </fieldset>
      <Problem error={problem} />
      {problem !== undefined && (
        <button type="button" onClick={forgetProblem}>
          Close
        </button>
      )}
      {!items && !problem && <p role="status">Loading …</p>}
      {items?.length === 0 && <p>Nothing here.</p>}
      <ul>
        {items?.map((todo) => (
          <li key={todo.id}>
            <label>
              <input
                type="checkbox"
                checked={todo.done}
                disabled={pending.has(todo.id)}
                onChange={({ target }) => setDone(todo, target.checked)}
              />{' '}
              {todo.done ? <s>{todo.title}</s> : todo.title}
            </label>
            <button
              type="button"
              aria-label={`Delete ${todo.title}`}
              disabled={pending.has(todo.id)}
              onClick={() => remove(todo)}
            >
              Delete
            </button>
          </li>
        ))}
      </ul>
    </>
  );
};
