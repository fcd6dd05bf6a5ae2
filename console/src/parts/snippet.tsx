import { useEffect, useState } from 'react';

const doneMs = 1500;

/** Copies a text, and says that it did. */
export const CopyButton = ({ text, label = 'Copy' }: { text: string; label?: string }) => {
  const [state, setState] = useState<'idle' | 'done' | 'failed'>('idle');
  useEffect(() => {
    if (state === 'idle') return undefined;
    const timer = setTimeout(() => setState('idle'), doneMs);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setState('done'),
      () => setState('failed'),
    );
  const words = { idle: label, done: 'Copied', failed: 'Not allowed' };
  return (
    <button type="button" className="small" onClick={() => void copy()}>
      <span aria-live="polite">{words[state]}</span>
    </button>
  );
};

/** Code as it stands, with a button to copy it. */
export const Snippet = ({ text }: { text: string }) => (
  <div className="snippet">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the arrows */}
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
    <CopyButton text={text} />
  </div>
);
