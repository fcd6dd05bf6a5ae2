import { useState } from 'react';

const themes = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const;
/** As theme.js reads it. */
const storageKey = 'backlot theme';

const keep = (theme: string) => {
  const root = document.documentElement;
  if (theme === 'system') delete root.dataset.theme;
  else root.dataset.theme = theme;
  try {
    if (theme === 'system') localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, theme);
  } catch {
    // It then holds for this page alone.
  }
};

export const ThemeSwitch = () => {
  const [chosen, setChosen] = useState(document.documentElement.dataset.theme ?? 'system');
  return (
    <fieldset className="choices" aria-label="Theme">
      {themes.map(([theme, label]) => (
        <button
          key={theme}
          type="button"
          aria-pressed={chosen === theme}
          onClick={() => {
            keep(theme);
            setChosen(theme);
          }}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
};
