import { useCall } from '../../api/queries.ts';
import { countWords } from '../../parts/words/numbers.ts';
import { Time } from '../../parts/words/time.tsx';

/** Whether lines were changed, left out or put in. */
export const Verification = ({ as }: { as: 'operator' | undefined }) => {
  const { data } = useCall('getAuditVerification', {}, as && { as });
  if (!data) return null;
  const [first] = data.broken;
  if (first)
    return (
      <div className="callout bad" role="alert">
        The log is broken at line {first.seq} of {first.ownerId ?? 'the platform'}: {first.reason}
        {data.broken.length > 1 && <> {countWords(data.broken.length, 'chain')} are.</>}
      </div>
    );
  if (data.checkedAt === null) return null;
  return (
    <p className="quiet-text">
      {countWords(data.lines, 'line')}, found whole <Time at={data.checkedAt} />.
    </p>
  );
};
