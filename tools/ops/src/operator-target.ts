import { CallFailed, type Target, toOrigin } from '@backlot/cli/api';

const defaultHost = 'http://localhost:8080';

/** Where the operator calls, and as whom. @throws CallFailed */
export const operatorTarget = (): Target => {
  const credential = process.env.BACKLOT_OPERATOR_TOKEN;
  if (!credential) throw new CallFailed('BACKLOT_OPERATOR_TOKEN is not set.');
  return { host: toOrigin(process.env.BACKLOT_HOST || defaultHost), credential };
};
