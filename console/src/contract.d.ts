declare module 'virtual:contract' {
  /** `GET platform /projects/:projectId` by operationId. */
  export const operations: Readonly<Record<string, string>>;
  /** Names of access of a collection, such as `shared`. */
  export const accessPresets: readonly string[];
  /** What webhooks tell: `payment.paid`. */
  export const appEventTypes: readonly string[];
  export const givenRoles: readonly import('@backlot/contract').GivenRole[];
  export const keyScopes: readonly ('read' | 'write' | 'admin')[];
  /** The least role that may, by operationId, of what is called in a project. */
  export const neededRoles: Readonly<
    Partial<Record<string, import('@backlot/contract').MemberRole>>
  >;
  /** From the least to the most. */
  export const memberRoles: readonly import('@backlot/contract').MemberRole[];
  /** What the users of a role can be let do. */
  export const powers: readonly import('@backlot/contract').Power[];
  /** What the presets of access stand for, by their names. */
  export const presetRules: Readonly<
    Record<import('@backlot/contract').AccessPreset, import('@backlot/contract').AccessRules>
  >;
  /** Names of the services behind the gateway. */
  export const services: readonly string[];
  /** Of the console, and so of the installation that serves it. */
  export const version: string;
}
