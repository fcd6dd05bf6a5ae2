import { isIP } from 'node:net';
import { originRoutes } from '@backlot/contract';
import { withTimeout } from '@backlot/http';
import { fetchText, hostName, isLoopbackHost, type Names } from '@backlot/outgoing';

const { originProofPath, originProofRecord } = originRoutes;

const timeoutMs = 3000;
const maxBytes = 4096;
const recordPrefix = 'backlot-verification=';

/** Where the token of an origin is looked for. */
export const proofPlaces = (origin: string, token: string) => {
  const host = hostName(origin);
  const hasRecords = isIP(host) === 0 && !isLoopbackHost(host);
  return {
    file: { url: `${origin}${originProofPath}`, content: token },
    dns: hasRecords
      ? { name: `${originProofRecord}.${host}`, value: `${recordPrefix}${token}` }
      : null,
  };
};

export interface ProofDeps {
  names: Names;
  /** Where developers work: loopback origins are asked, over http too. */
  allowsLoopback: boolean;
}

export type FindProof = ReturnType<typeof createFindProof>;

/** Whether who answers at an origin, or for its name, knows the token. Any failure is a no. */
export const createFindProof = ({ names, allowsLoopback }: ProofDeps) => {
  const options = { names, allowsLoopback, timeoutMs, maxBytes };
  return async (origin: string, token: string): Promise<boolean> => {
    const { file, dns } = proofPlaces(origin, token);
    const inFile = async () => (await fetchText(new URL(file.url), options)).trim() === token;
    const inRecord = async () => {
      if (!dns) return false;
      const records = await withTimeout(() => names.texts(dns.name, timeoutMs), timeoutMs);
      return (records ?? []).some((parts) => parts.join('') === dns.value);
    };
    const found = await Promise.all([inFile, inRecord].map((look) => look().catch(() => false)));
    return found.includes(true);
  };
};
