import { type ReactNode, useId, useState } from 'react';
import { type Choice, MoreMenu } from '../../../parts/menu.tsx';
import { ConditionDialog } from './condition-dialog.tsx';
import { RoleDialog } from './role-dialog.tsx';
import { type Condition, type Entry, entryWords, wordWords } from './words.ts';

interface WhoProps {
  /** "Who reads records". */
  title: string;
  entries: readonly Entry[];
  onChange(entries: Entry[]): void;
  /** Words that are offered; roles are besides. */
  offered: readonly string[];
  /** Known roles of the project. */
  roles: readonly string[];
  takesConditions?: boolean;
  /** Beside the list: what else can be done with it. */
  children?: ReactNode;
}

type Open =
  | { kind: 'role' | 'group' }
  | { kind: 'condition'; at: number | undefined; condition: Condition | undefined };

/** A list of the rules as a sentence: each word can be taken out, others are chosen. */
export const Who = ({
  title,
  entries,
  onChange,
  offered,
  roles,
  takesConditions = true,
  children,
}: WhoProps) => {
  const id = useId();
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const has = (word: string) => entries.includes(word);
  const add = (entry: Entry) => {
    close();
    if (typeof entry === 'string' && has(entry)) return;
    onChange([...entries, entry]);
  };
  const replace = (at: number, entry: Entry) => {
    close();
    onChange(entries.map((other, index) => (index === at ? entry : other)));
  };
  const words = [...offered, ...roles.map((role) => `role:${role}`)];
  const choices: Choice[] = [
    ...words
      .filter((word) => !has(word))
      .map((word) => ({ label: wordWords(word), onSelect: () => add(word) })),
    { label: 'a role…', onSelect: () => setOpen({ kind: 'role' }) },
    ...(offered.includes('group')
      ? [{ label: 'a role in its group…', onSelect: () => setOpen({ kind: 'group' }) }]
      : []),
    ...(takesConditions
      ? [
          {
            label: 'somebody, where…',
            onSelect: () => setOpen({ kind: 'condition', at: undefined, condition: undefined }),
          },
        ]
      : []),
  ];
  return (
    <section className="who" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <div className="row">
        {entries.length === 0 && <span className="quiet-text">nobody but you and your keys</span>}
        {entries.map((entry, at) => {
          const text = entryWords(entry);
          return (
            <span key={text} className="chip">
              {typeof entry === 'string' ? (
                <span>{text}</span>
              ) : (
                <button
                  type="button"
                  className="link"
                  onClick={() => setOpen({ kind: 'condition', at, condition: entry })}
                >
                  {text}
                </button>
              )}
              <button
                type="button"
                className="quiet small icon"
                aria-label={`Take out: ${text}`}
                onClick={() => onChange(entries.filter((_, index) => index !== at))}
              >
                ×
              </button>
            </span>
          );
        })}
        <MoreMenu label={`Add to: ${title}`} choices={choices}>
          <span>
            {entries.length === 0 ? 'Let in…' : 'or…'}
            <span className="visually-hidden"> {title}</span>
          </span>
        </MoreMenu>
        {children}
      </div>
      {(open?.kind === 'role' || open?.kind === 'group') && (
        <RoleDialog kind={open.kind} roles={roles} onClose={close} onChosen={add} />
      )}
      {open?.kind === 'condition' && (
        <ConditionDialog
          condition={open.condition}
          offered={words}
          onClose={close}
          onDone={(condition) =>
            open.at === undefined ? add(condition) : replace(open.at, condition)
          }
        />
      )}
    </section>
  );
};
