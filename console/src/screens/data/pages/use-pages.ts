import { useEffect, useState } from 'react';
import { RecordPages } from './record-pages.ts';
import { createSource, type Shown } from './source.ts';

interface Opened {
  shown: string;
  generation: number;
  pages: RecordPages;
  /** Of the generation before. */
  former?: RecordPages | undefined;
}

/**
 * The pages of what is shown, begun anew when that changes.
 * @param generation counts what asks for it otherwise
 * @returns `showFormer()` shows them as they were before it last grew, until it grows again
 */
export const useRecordPages = (shown: Shown, generation: number) => {
  const text = JSON.stringify(shown);
  const [opened, setOpened] = useState<Opened>(() => ({
    shown: text,
    generation,
    pages: new RecordPages(createSource(shown)),
  }));
  const isSame = opened.shown === text;
  const now: Opened =
    isSame && opened.generation === generation
      ? opened
      : {
          shown: text,
          generation,
          pages: new RecordPages(createSource(shown)),
          former: isSame ? opened.pages : undefined,
        };
  if (now !== opened) setOpened(now);
  const { pages } = now;
  useEffect(() => {
    pages.start();
    return () => pages.stop();
  }, [pages]);
  const showFormer = () =>
    setOpened((last) => {
      if (!last.former) return last;
      last.former.showGone();
      return { ...last, pages: last.former, former: undefined };
    });
  return { pages, showFormer };
};
