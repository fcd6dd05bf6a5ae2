import { BacklotError } from '@backlot/client';
import { roleRefused } from '../api/roles.ts';
import { ResendVerification } from './resend-verification.tsx';

/** Gone once one's own address is confirmed. */
const needsAddress = new Set(['owner_unverified', 'verify_first']);

interface ProblemProps {
  error: Error | null | undefined;
  /** Tries the same once more. */
  again?: (() => void) | undefined;
}

/** What went wrong, in the API's own words, with its hint. Nothing where there is no error. */
export const Problem = ({ error, again }: ProblemProps) => {
  if (!error) return null;
  if (error instanceof BacklotError && error.code === roleRefused)
    return <div className="callout info">{error.message}</div>;
  const { hint, problems, requestId } =
    error instanceof BacklotError ? error : { hint: undefined, problems: [], requestId: undefined };
  return (
    <div className="callout bad" role="alert">
      <p>
        <strong>{error.message}</strong>
      </p>
      {hint && <p>{hint}</p>}
      {problems.length > 0 && (
        <ul>
          {problems.map(({ path, operation, message }) => (
            <li key={`${operation ?? ''} ${path} ${message}`}>
              {operation && `${operation}: `}
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {error instanceof BacklotError && needsAddress.has(error.code) && <ResendVerification />}
      {(again || requestId) && (
        <div className="row problem-foot">
          {again && (
            <button type="button" className="small" onClick={again}>
              Try again
            </button>
          )}
          {requestId && <span className="quiet-text mono">Request {requestId}</span>}
        </div>
      )}
    </div>
  );
};
