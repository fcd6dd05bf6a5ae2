import type { Answer } from '../../api/operation-types.ts';

const actionBadge = { create: 'good', change: 'accent', delete: 'bad', left: 'warn' } as const;

/** What a file would change, in words. */
export const ConfigChanges = ({ changes }: { changes: Answer<'setConfig'>['changes'] }) =>
  changes.length === 0 ? (
    <div className="callout good" role="status">
      Nothing would change: all of it is set already.
    </div>
  ) : (
    <ul className="stack close plain-list" aria-label="What would change">
      {changes.map(({ section, kind, name, action, text }) => (
        <li key={`${section} ${kind} ${name} ${text}`} className="row">
          <span className={`badge ${actionBadge[action]}`}>{action}</span>
          <span className="mono">{section}</span>
          <span>{text}</span>
        </li>
      ))}
    </ul>
  );
