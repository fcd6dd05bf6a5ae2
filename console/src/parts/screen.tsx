import { type ReactNode, useEffect } from 'react';

interface ScreenProps {
  title: string;
  /** A sentence under the title. */
  says?: ReactNode;
  /** Buttons at the end of the title's line. */
  actions?: ReactNode;
  /** The screen scrolls by itself, as a grid does, and has no margins. */
  isFull?: boolean;
  children: ReactNode;
}

/** What every screen begins with; the title is the page's too. */
export const Screen = ({ title, says, actions, isFull, children }: ScreenProps) => {
  useEffect(() => {
    document.title = `${title} · Backlot`;
  }, [title]);
  return (
    <div className={`screen ${isFull ? 'full' : ''}`}>
      <header className="spread">
        <div className="screen-title">
          <h1>{title}</h1>
          {says && <p className="quiet-text">{says}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </header>
      {children}
    </div>
  );
};
