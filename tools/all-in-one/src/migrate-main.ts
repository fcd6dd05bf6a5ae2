import { migrate } from '@backlot/database';
import { migrations } from './service-list.ts';

const url = process.env.DATABASE_URL;
if (url) {
  for (const migration of migrations) {
    await migrate({ url, ...migration });
    console.log(`${migration.schema}: up to date`);
  }
} else {
  console.error('Set DATABASE_URL to the PostgreSQL database to migrate.');
  process.exitCode = 1;
}
