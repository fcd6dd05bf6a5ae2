import { Empty } from '../../../parts/lists/empty.tsx';
import { Takes } from '../../../parts/takes.tsx';

interface EmptyCollectionProps {
  projectId: string;
  name: string;
  onNew(): void;
}

export const EmptyCollection = ({ projectId, name, onNew }: EmptyCollectionProps) => (
  <Empty
    title={`${name} has no records yet`}
    snippet={`import { createClient } from '${location.origin}/sdk.js';

const client = createClient('${location.origin}/api/runtime/${projectId}');
await client.db('${name}').create({ title: 'Buy milk', done: false });`}
    action={
      <Takes name="createRecord">
        <button type="button" className="primary" onClick={onNew}>
          New record
        </button>
      </Takes>
    }
  >
    Make the first one here, import a file, or let your app create it. A record is any JSON object,
    unless the collection has a schema.
  </Empty>
);
