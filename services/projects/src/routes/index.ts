import type { MountedRoute } from '@backlot/http';
import type { Features } from '../features.ts';
import { routesForArchives } from './archives.ts';
import { routesForAudit } from './audit.ts';
import { routesForBackups } from './backups.ts';
import { routesForConfig } from './config.ts';
import { routesForCredits } from './credits.ts';
import { routesForFindings } from './findings.ts';
import { routesForKeys } from './keys.ts';
import { routesForMembers } from './members.ts';
import { routesForOperatorTokens } from './operator-tokens.ts';
import { routesForOrigins } from './origins.ts';
import { routesForParkedEvents } from './parked-events.ts';
import { routesForPlatformUsage } from './platform-usage.ts';
import { routesForPreviews } from './previews.ts';
import { routesForProjects } from './projects.ts';
import { routesForRequests } from './requests.ts';
import { routesForRoles } from './roles.ts';
import { routesForSealedSecrets } from './sealed-secrets.ts';
import { routesForSuspensions } from './suspensions.ts';
import { routesForWebhooks } from './webhooks.ts';

export const createRoutes = (features: Features): MountedRoute[] => {
  const { allServices, archives, audit, backups, callLog, callSums, configShares } = features;
  const { credits, findings, invitations, keys, members, operatorTokens, origins } = features;
  const { owners, parkedEvents, priceChanges, projectFile, projects, roles } = features;
  const { suspensions, telling, usageReports } = features;
  return [
    ...routesForProjects(features),
    ...routesForRoles(roles),
    ...routesForConfig(projectFile, configShares),
    ...routesForArchives(archives),
    ...routesForPreviews(features),
    ...routesForKeys(keys),
    ...routesForMembers(members, invitations),
    ...routesForOperatorTokens(operatorTokens),
    ...routesForParkedEvents(parkedEvents),
    ...routesForSealedSecrets(allServices),
    ...routesForBackups(backups),
    ...routesForOrigins(origins),
    ...routesForWebhooks(telling.webhooks, telling.log, telling.wake),
    ...routesForCredits(credits, usageReports, priceChanges),
    ...routesForPlatformUsage(callSums),
    ...routesForFindings(findings, owners),
    ...routesForRequests(callLog, projects),
    ...routesForAudit(audit),
    ...routesForSuspensions(suspensions, owners),
  ];
};
