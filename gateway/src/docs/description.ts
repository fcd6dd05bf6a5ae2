import type { ServerResponse } from 'node:http';

export interface Description {
  /** The API description of one project, as JSON. Callers share its bytes: there are 235,000. */
  ofProject(projectId: string): readonly Buffer[];
  /** The one of every project, with the project's id as a variable. */
  general: Buffer;
}

/** @param description content of openapi.json */
export const createDescription = (description: object, publicUrl: string): Description => {
  const runtimeUrl = `${publicUrl}/api/runtime/`;
  // JSON text is cut where the address stands, so that a call does not serialise the whole again.
  const mark = '\u0000address\u0000';
  const [before = '', after = ''] = JSON.stringify({
    ...description,
    servers: [{ url: mark }],
  }).split(JSON.stringify(mark));
  const [head, tail] = [Buffer.from(before), Buffer.from(after)];
  return {
    ofProject: (projectId) => [head, Buffer.from(JSON.stringify(runtimeUrl + projectId)), tail],
    general: Buffer.from(
      JSON.stringify({
        ...description,
        servers: [
          { url: `${runtimeUrl}{projectId}`, variables: { projectId: { default: 'demo' } } },
        ],
      }),
    ),
  };
};

export const sendDescription = (res: ServerResponse, json: Buffer): void => {
  res.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': json.length,
  });
  res.end(json);
};
