import { Link } from '@tanstack/react-router';
import { CopyButton } from '../../parts/snippet.tsx';
import { formatBytes } from '../../parts/words/numbers.ts';
import { exactWords } from '../../parts/words/time.tsx';
import {
  asFetchAgain,
  docsPath,
  forAgent,
  hasFailed,
  type LoggedCall,
  operationOfCall,
} from './call-item.ts';

interface CallDetailsProps {
  projectId: string;
  call: LoggedCall;
}

const Who = ({ projectId, call: { caller, userId, keyId } }: CallDetailsProps) => (
  <>
    {caller}
    {userId && caller === 'user' && (
      <>
        {' '}
        <Link to={`/projects/${projectId}/users/${userId}` as string} className="mono">
          {userId}
        </Link>
      </>
    )}
    {keyId && <span className="mono"> {keyId}</span>}
  </>
);

const Fields = ({ fields }: { fields: readonly string[] | null }) => {
  if (!fields) return <span className="quiet-text">were not read</span>;
  if (fields.length === 0) return <span className="quiet-text">none</span>;
  return (
    <ul className="row field-names">
      {[...new Set(fields)].map((field) => (
        <li key={field} className="badge mono">
          <bdi>{field}</bdi>
        </li>
      ))}
    </ul>
  );
};

/** One call: what came back, and what helps to mend it. */
export const CallDetails = ({ projectId, call }: CallDetailsProps) => {
  const { method, path, status, code, error, hint, fields, requestBytes, responseBytes } = call;
  return (
    <section className="stack call-details" aria-label={`${method} ${path}`}>
      {hasFailed(call) && (
        <div className={`callout ${status >= 500 ? 'bad' : 'warn'}`}>
          <p>
            <strong>
              {error ?? (status === 499 ? 'The caller left before the answer.' : code)}
            </strong>
          </p>
          {hint && <p>{hint}</p>}
        </div>
      )}
      <dl className="facts">
        <dt>Answer</dt>
        <dd>
          {status} {code && <code>{code}</code>}
        </dd>
        {hasFailed(call) && (
          <>
            <dt>Fields of the body</dt>
            <dd>
              <Fields fields={fields} />
            </dd>
          </>
        )}
        <dt>Caller</dt>
        <dd>
          <Who projectId={projectId} call={call} />
        </dd>
        <dt>From</dt>
        <dd>
          <span className="mono">{call.address}</span>
          {call.client && <> on a page of {call.client}</>}
        </dd>
        <dt>When</dt>
        <dd>{exactWords(call.at)}</dd>
        <dt>Sent, received</dt>
        <dd>
          {requestBytes === null ? 'unknown' : formatBytes(requestBytes)},{' '}
          {formatBytes(responseBytes)}
        </dd>
        <dt>Request</dt>
        <dd className="mono">{call.requestId}</dd>
      </dl>
      <div className="row">
        <CopyButton
          text={forAgent(call, projectId, location.origin)}
          label="Copy for my coding agent"
        />
        <CopyButton text={asFetchAgain(call, projectId, location.origin)} label="Copy as fetch" />
        <a href={docsPath(call)} className="button small quiet" target="_blank" rel="noreferrer">
          Documentation of {operationOfCall(call) ?? 'the API'}
        </a>
      </div>
    </section>
  );
};
