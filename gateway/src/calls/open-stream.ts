import type { ServerResponse } from 'node:http';
import type { RouteDefinition } from '@backlot/contract';
import { refuseRole } from '@backlot/http';
import type { Caller } from '../directory/caller.ts';
import type { GatewayProject } from '../directory/gateway-project.ts';
import type { Credential } from '../steps/caller/authenticate.ts';
import { refuseAccount, showAccount } from '../steps/caller/check-account.ts';
import { checkActive, checkTarget } from '../steps/project/find-project.ts';
import type { CallParts } from './call-parts.ts';

export interface StreamOpening {
  definition: RouteDefinition;
  /** Whose address the call has. */
  project: GatewayProject;
  /** Of the control plane: the project that it is about. */
  targetProjectId: string | undefined;
  credential: Credential;
  /** As the service sees them. */
  caller: Caller;
  address: string;
}

/** Holds an answer that has no end open for as long as the same call would still be answered. */
export const createOpenStream =
  (parts: CallParts) =>
  (res: ServerResponse, { definition, project, targetProjectId, ...call }: StreamOpening): void => {
    const { authenticate, findProject, now, streams } = parts;
    const { address, caller } = call;
    const { authorization } = call.credential.headers;
    const credential = { headers: { ...(authorization && { authorization }) } };
    const askAgain = async () => {
      const current = checkActive((await findProject.byId(project.id)) ?? null);
      const identified = await authenticate(credential, definition, current, address);
      const caller =
        targetProjectId === undefined
          ? identified
          : checkTarget(await findProject.byId(targetProjectId), identified, definition).caller;
      const rules = await findProject.rulesFor(caller, current);
      const refusal =
        refuseRole(definition, caller.kind, caller.memberRole) ??
        refuseAccount(caller, definition, rules, now());
      if (refusal) throw refusal;
      return {
        caller: showAccount(caller, definition, now()),
        channels: current.identity.settings.channels,
      };
    };
    const { channels } = project.identity.settings;
    streams.open(res, { address, caller, channels, askAgain });
  };
