import type { Settings } from './control.ts';
import { readForm, writeForm } from './setting-value.ts';

interface SignUpControlProps {
  id: string;
  describedBy: string;
  text: string;
  onChange(text: string): void;
}

const choices = [
  ['', 'Default'],
  ['anyone', 'Anyone'],
  ['invited', 'Who is invited to a group'],
  ['nobody', 'Nobody'],
  ['domains', 'Who has an address of these domains'],
] as const;

/** Who makes accounts: in words, and the domains where some are named. */
export const SignUpControl = ({ id, describedBy, text, onChange }: SignUpControlProps) => {
  const value = readForm(text) as Settings['signUp'];
  const domains = typeof value === 'object' ? value.domains : undefined;
  const choose = (next: string) => {
    if (next === 'domains') onChange(writeForm({ domains: [''] }));
    else onChange(writeForm(next === '' ? undefined : next));
  };
  return (
    <>
      <select
        id={id}
        aria-describedby={describedBy}
        value={domains ? 'domains' : ((value as string) ?? '')}
        onChange={({ target }) => choose(target.value)}
      >
        {choices.map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
      {domains && (
        <textarea
          className="code"
          rows={3}
          aria-label="Domains, one a line"
          placeholder="example.org"
          value={domains.join('\n')}
          onChange={({ target }) =>
            onChange(writeForm({ domains: target.value.split('\n').map((line) => line.trim()) }))
          }
        />
      )}
    </>
  );
};
