import { Link, useParams } from '@tanstack/react-router';
import type { Item } from '../../api/operation-types.ts';
import { useCall } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Screen } from '../../parts/screen.tsx';
import { ChannelsSection } from './channels/channels-section.tsx';
import { Refusals } from './refusals.tsx';
import { VerdictBadge } from './verdict-badge.tsx';
import { toMatrix } from './words/matrix.ts';
import { listWords, rulesBehind } from './words/words.ts';
import './rules.css';

type Collection = Item<'listCollections'>;

const firstCollection = (projectId: string) =>
  `curl -s -X PUT ${location.origin}/api/platform/projects/${projectId}/collections/notes \\
  -H "Authorization: Bearer $TOKEN" --json '{"access":"private"}'`;

const CollectionRow = ({ of, projectId }: { of: Collection; projectId: string }) => {
  const rules = rulesBehind(of.access);
  const [stranger] = toMatrix(rules, []);
  return (
    <tr>
      <td className="named">
        <Link
          to="/projects/$projectId/rules/$collection"
          params={{ projectId, collection: of.name }}
        >
          {of.name}
        </Link>
      </td>
      <td className="rule-words sentence">
        Read: {listWords(rules.read)}. Create: {listWords(rules.create)}. Change:{' '}
        {listWords(rules.change)}.{of.advice && <p className="problem">{of.advice}</p>}
      </td>
      <td>{stranger && <VerdictBadge verdict={stranger.read} isRisk />}</td>
      <td>{stranger && <VerdictBadge verdict={stranger.create} isRisk />}</td>
    </tr>
  );
};

/** Who may do what in this project: of every collection, and in channels. */
export const RulesScreen = () => {
  const { projectId } = useParams({ from: '/signed-in/projects/$projectId/rules' });
  const params = { projectId };
  const query = useCall('listCollections', { params });
  const collections = query.data?.items;
  return (
    <Screen
      title="Rules"
      says="Who may read and change what. They bind users and visitors; you and your keys may do everything."
      actions={<ApiCall name="listCollections" input={{ params }} />}
    >
      {query.error && <Problem error={query.error} again={() => void query.refetch()} />}
      {!collections && !query.error && <Loading />}
      {collections?.length === 0 && (
        <Empty title="No collections yet" snippet={firstCollection(projectId)}>
          A collection comes with its first record, or by this call. Unless you say otherwise anyone
          reads and creates, and whoever made a record changes it.
        </Empty>
      )}
      {collections && collections.length > 0 && (
        <WideTable
          label="Collections"
          columns={['Collection', 'Rules', 'Strangers read', 'Strangers create']}
        >
          {collections.map((one) => (
            <CollectionRow key={one.name} of={one} projectId={projectId} />
          ))}
        </WideTable>
      )}
      <Refusals projectId={projectId} />
      <ChannelsSection projectId={projectId} />
    </Screen>
  );
};
