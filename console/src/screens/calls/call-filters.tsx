import { type ReactNode, useEffect, useRef, useState } from 'react';
import { SearchBox } from '../../parts/lists/search-box.tsx';
import type { CallFilter } from './live-calls.ts';

const statuses = {
  '': 'Every status',
  failed: 'Failing',
  '2xx': 'Succeeded (2xx)',
  '4xx': 'Refused (4xx)',
  '5xx': 'Server errors (5xx)',
};
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const typingMs = 300;

interface CallFiltersProps {
  filter: CallFilter;
  onChange(filter: CallFilter): void;
  /** More of them. */
  children: ReactNode;
}

/** Leaves out what is not set. */
const compact = ({ status, path, method }: CallFilter): CallFilter => ({
  ...(status && { status }),
  ...(path && { path }),
  ...(method && { method }),
});

/** By status, method and a part of the path. */
export const CallFilters = ({ filter, onChange, children }: CallFiltersProps) => {
  const [path, setPath] = useState(filter.path ?? '');
  const change = useRef(onChange);
  change.current = onChange;
  const latest = useRef(filter);
  latest.current = filter;
  useEffect(() => {
    if (path === (latest.current.path ?? '')) return undefined;
    const timer = setTimeout(() => change.current(compact({ ...latest.current, path })), typingMs);
    return () => clearTimeout(timer);
  }, [path]);
  useEffect(() => setPath(filter.path ?? ''), [filter.path]);
  const set = (next: CallFilter) => onChange(compact({ ...filter, ...next }));
  return (
    <search className="row call-filters">
      <SearchBox
        label="Part of the path"
        value={path}
        onChange={(text) => setPath(text.slice(0, 200))}
      />
      <select
        aria-label="Status"
        value={filter.status ?? ''}
        onChange={({ target }) => set({ status: target.value })}
      >
        {Object.entries(statuses).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
        {filter.status && !(filter.status in statuses) && (
          <option value={filter.status}>{filter.status}</option>
        )}
      </select>
      <select
        aria-label="Method"
        value={filter.method ?? ''}
        onChange={({ target }) => set({ method: target.value })}
      >
        <option value="">Every method</option>
        {methods.map((method) => (
          <option key={method}>{method}</option>
        ))}
      </select>
      {children}
    </search>
  );
};
