/** What an operator's token may do; each may what those before it may. */
export const operatorScopes = ['read', 'support', 'admin'] as const;
export type OperatorScope = (typeof operatorScopes)[number];

/** Who calls by BACKLOT_OPERATOR_TOKEN. No token that is kept has this name. */
export const bootstrapOperator = { name: 'bootstrap', scope: 'admin' } as const;

/** The scope without which an operator may not call. */
export const neededOperatorScope = ({
  operatorScope,
  method,
}: {
  operatorScope?: OperatorScope;
  method: string;
}): OperatorScope => operatorScope ?? (method === 'GET' ? 'read' : 'admin');

export const hasOperatorScope = (scope: OperatorScope, needed: OperatorScope): boolean =>
  operatorScopes.indexOf(scope) >= operatorScopes.indexOf(needed);
