import { lazy, Suspense, useEffect } from 'react';
import { keepPlace } from './keep-place.ts';
import { openPalette, usePaletteOpen } from './palette-state.ts';

const Palette = lazy(() => import('./palette.tsx'));

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));

/** Ctrl or Cmd with K opens the command palette; `/` leads into the screen's search. */
export const Keys = () => {
  useEffect(keepPlace, []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey) {
        event.preventDefault();
        openPalette();
      } else if (event.key === '/' && !event.ctrlKey && !event.metaKey && !isTyping(event.target)) {
        const search = document.querySelector<HTMLInputElement>('[data-search]');
        if (!search) return;
        event.preventDefault();
        search.focus();
        search.select();
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    usePaletteOpen() && (
      <Suspense>
        <Palette />
      </Suspense>
    )
  );
};
