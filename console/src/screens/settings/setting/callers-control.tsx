import { useId } from 'react';
import type { Settings } from './control.ts';
import { readForm, writeForm } from './setting-value.ts';

type Callers = NonNullable<Settings['callers']>;
type Kind = keyof Callers;

interface CallersControlProps {
  text: string;
  onChange(text: string): void;
}

const kinds: readonly (readonly [Kind, string])[] = [
  ['ai', 'AI'],
  ['uploads', 'Uploads'],
  ['email', 'Mails'],
];

const toChoice = (words: readonly string[] | undefined): string => {
  if (!words) return '';
  if (words.length === 0) return 'nobody';
  if (words.includes('anyone')) return 'anyone';
  return words.includes('users') ? 'users' : 'roles';
};

const ofChoice: Readonly<Record<string, string[] | undefined>> = {
  anyone: ['anyone'],
  users: ['users'],
  roles: ['role:'],
  nobody: [],
};

interface OneKindProps {
  name: string;
  words: string[] | undefined;
  onChange(words: string[] | undefined): void;
}

const OneKind = ({ name, words, onChange }: OneKindProps) => {
  const id = useId();
  const choice = toChoice(words);
  return (
    <div className="field">
      <label htmlFor={id}>{name}</label>
      <select id={id} value={choice} onChange={({ target }) => onChange(ofChoice[target.value])}>
        <option value="">Default</option>
        <option value="anyone">Anyone</option>
        <option value="users">Who is signed in</option>
        <option value="roles">Users of these roles</option>
        <option value="nobody">Nobody</option>
      </select>
      {choice === 'roles' && words && (
        <input
          className="code"
          aria-label={`${name}: roles, with commas between`}
          placeholder="staff, editor"
          value={words.map((word) => word.replace(/^role:/, '')).join(',')}
          onChange={({ target }) =>
            onChange(target.value.split(',').map((role) => `role:${role.trim()}`))
          }
        />
      )}
    </div>
  );
};

/** Who may make each kind of call. */
export const CallersControl = ({ text, onChange }: CallersControlProps) => {
  const callers = (readForm(text) ?? {}) as Callers;
  const change = (kind: Kind, words: string[] | undefined) => {
    const { [kind]: _, ...others } = callers;
    const next = words ? { ...others, [kind]: words } : others;
    onChange(writeForm(next));
  };
  return kinds.map(([kind, name]) => (
    <OneKind
      key={kind}
      name={name}
      words={callers[kind]}
      onChange={(words) => change(kind, words)}
    />
  ));
};
