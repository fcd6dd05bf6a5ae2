import { fileURLToPath } from 'node:url';
import { createDatabase, migrate } from '@backlot/database';
import { createTestDatabase } from '@backlot/testing';
import { describeCheckout } from './checkout.conformance.ts';
import { createTestCheckout } from './hosted-test.ts';

describeCheckout('test-checkout', async () => {
  const testDatabase = await createTestDatabase();
  const place = { url: testDatabase.url, schema: 'payments' };
  const directory = fileURLToPath(new URL('../../migrations', import.meta.url));
  await migrate({ ...place, directory });
  const database = createDatabase(place);
  const checkout = createTestCheckout({ database, publicUrl: 'http://x', now: Date.now });
  return {
    checkout,
    pay: (sessionId) => checkout.pay(1001, sessionId),
    async close() {
      await database.close();
      await testDatabase.drop();
    },
  };
});
