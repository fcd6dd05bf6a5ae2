import { useEffect, useRef, useState } from 'react';
import { SearchBox } from '../../parts/lists/search-box.tsx';

const typingMs = 250;

interface FinderProps {
  label: string;
  value: string;
  onChange(value: string): void;
}

/** A search that waits until nobody types. */
export const Finder = ({ label, value, onChange }: FinderProps) => {
  const [text, setText] = useState(value);
  const latest = useRef({ value, onChange });
  latest.current = { value, onChange };
  useEffect(() => {
    if (text === latest.current.value) return undefined;
    const timer = setTimeout(() => latest.current.onChange(text), typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  return <SearchBox label={label} value={text} onChange={(next) => setText(next.slice(0, 100))} />;
};
