import { createDatabase } from '@backlot/database';
import { createServiceDatabase } from '@backlot/testing';
import { describeProviderAccount } from '../provider/provider.conformance.ts';
import { paymentsService } from '../service.ts';
import { createTestCheckout } from './provider.ts';

describeProviderAccount('test-checkout', async () => {
  const testDatabase = await createServiceDatabase(paymentsService);
  const place = { url: testDatabase.ownerUrl, schema: 'payments' };
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
