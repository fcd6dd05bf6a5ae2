import { usePages } from '../../../api/queries.ts';
import { EventTable } from '../../../parts/lists/event-table.tsx';
import { Listed } from '../../../parts/lists/listed.tsx';

/** What happened to a user's sign-in. */
export const UserEvents = ({ projectId, userId }: { projectId: string; userId: string }) => {
  const pages = usePages('listUserEvents', {
    params: { projectId, userId },
    query: { limit: 20 },
  });
  return (
    <section className="section" aria-label="Sign-ins and changes">
      <h2>Sign-ins and changes</h2>
      <Listed pages={pages} empty={<p className="quiet-text">Nothing in the last 90 days.</p>}>
        {(events) => <EventTable events={events} />}
      </Listed>
    </section>
  );
};
