import { BacklotError } from '@backlot/client';

/** What went wrong, and what to do about it where the server says. */
export const Problem = ({ error }: { error: unknown }) => {
  if (!error) return null;
  const failure = error instanceof BacklotError ? error : undefined;
  return (
    <div role="alert" className="problem">
      <p>{failure?.message ?? String(error)}</p>
      {failure?.hint && <p>{failure.hint}</p>}
      <small>
        {failure?.code} {failure?.requestId}
      </small>
    </div>
  );
};
