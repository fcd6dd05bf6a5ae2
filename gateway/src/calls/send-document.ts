import type { ServerResponse } from 'node:http';
import type { Caller } from '../directory/caller.ts';
import type { GatewayProject } from '../directory/gateway-project.ts';
import type { ProjectDocument } from '../documents/documents.ts';
import { refuseAccount } from '../steps/caller/check-account.ts';
import type { CallParts } from './call-parts.ts';

export interface DocumentCall {
  path: string;
  project: GatewayProject;
  caller: Caller;
  address: string;
}

const readDocument = { method: 'GET', callers: ['owner'] } as const;

/** Answers a call for a description of a project. */
export const createSendDocument =
  ({ addresses, admit, documents, findProject, now }: CallParts) =>
  async (res: ServerResponse, document: ProjectDocument, call: DocumentCall): Promise<void> => {
    const { path, project, caller, address } = call;
    // An owner sees more of each than others do.
    const refusal =
      caller.kind === 'owner'
        ? refuseAccount(caller, readDocument, await findProject.platform(), now())
        : undefined;
    const addressCount = addresses.countAddress(project, 'read', caller, address);
    const by = { caller, address, addressCount };
    await admit(res, { project, limitClass: 'read', route: `GET ${path}`, ...by });
    if (refusal) throw refusal;
    return documents.send(res, document, { project, caller, address });
  };
