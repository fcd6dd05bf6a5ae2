import type { ReactNode } from 'react';
import type { OperationId } from '../api/operation-types.ts';
import { useWhyNot } from '../api/roles.ts';

interface TakesProps {
  /** What the controls call. */
  name: OperationId;
  children: ReactNode;
}

/** Controls that are disabled, with the reason, where one's role in the project may not use them. */
export const Takes = ({ name, children }: TakesProps) => {
  const why = useWhyNot()(name);
  return (
    <fieldset className="takes" disabled={why !== undefined} title={why}>
      {children}
    </fieldset>
  );
};
