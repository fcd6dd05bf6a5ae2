import type { ReactNode } from 'react';
import { Time } from '../../parts/words/time.tsx';

/** Sending that was stopped, since when and why. */
export const Stopped = ({
  title,
  stop,
  children,
}: {
  title: string;
  stop: { since: string; reason: string | null };
  children: ReactNode;
}) => (
  <div className="callout bad" role="status">
    <p>
      <strong>{title}</strong> Since <Time at={stop.since} />
      {stop.reason && `: ${stop.reason}`}. {children}
    </p>
  </div>
);
