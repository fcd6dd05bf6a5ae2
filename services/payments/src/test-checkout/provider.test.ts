import { fileURLToPath } from 'node:url';
import { createDatabase, migrate } from '@backlot/database';
import { createTestDatabase } from '@backlot/testing';
import { describeProviderAccount } from '../checkout/provider.conformance.ts';
import { createTestCheckout } from './provider.ts';

describeProviderAccount('test-checkout', async () => {
  const testDatabase = await createTestDatabase();
  const place = { url: testDatabase.url, schema: 'payments' };
  const directory = fileURLToPath(new URL('../../migrations', import.meta.url));
  await migrate({ ...place, directory });
  const database = createDatabase(place);
  const checkout = createTestCheckout({ database, publicUrl: 'http://x', now: Date.now });
  return {
    account: checkout,
    pay: (sessionId) => checkout.pay(1001, sessionId),
    async close() {
      await database.close();
      await testDatabase.drop();
    },
  };
});
