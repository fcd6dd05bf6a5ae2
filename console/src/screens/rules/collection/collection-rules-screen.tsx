import { Link, useParams } from '@tanstack/react-router';
import { useCall } from '../../../api/queries.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Empty } from '../../../parts/lists/empty.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Screen } from '../../../parts/screen.tsx';
import { Refusals } from '../refusals.tsx';
import { AccessSection } from './access-section.tsx';
import { SchemaSection } from './schema-section.tsx';
import '../rules.css';

/** Who may do what in one collection, and what its records have to be. */
export const CollectionRulesScreen = () => {
  const { projectId, collection: name } = useParams({
    from: '/signed-in/projects/$projectId/rules/$collection',
  });
  const query = useCall('listCollections', { params: { projectId } });
  const roles = useCall('listRoles', { params: { projectId } });
  const collection = query.data?.items.find((one) => one.name === name);
  return (
    <Screen
      title={`Rules of ${name}`}
      says={collection?.advice}
      actions={
        <>
          <Link to="/projects/$projectId/rules" params={{ projectId }} className="button quiet">
            All rules
          </Link>
          <ApiCall
            name="setCollectionAccess"
            input={{
              params: { projectId, collection: name },
              body: { access: collection?.access ?? 'private' },
            }}
          />
        </>
      }
    >
      {query.error && <Problem error={query.error} again={() => void query.refetch()} />}
      {query.isLoading && <Loading />}
      {query.data && !collection && (
        <Empty title="There is no such collection">It may have been renamed or deleted.</Empty>
      )}
      {collection && (
        <>
          <AccessSection
            key={`access ${JSON.stringify(collection.access)}`}
            projectId={projectId}
            collection={collection}
            roles={(roles.data?.items ?? []).map((role) => role.name)}
          />
          <SchemaSection
            key={`schema ${JSON.stringify(collection.schema)}`}
            projectId={projectId}
            collection={collection}
          />
          <Refusals projectId={projectId} collection={name} />
        </>
      )}
    </Screen>
  );
};
