import { migrate } from '@backlot/database';
import { migrations } from './migrations.ts';

const url = process.env.DATABASE_URL;
if (url) {
  for (const each of migrations) {
    await migrate({ url, ...each });
    console.log(`${each.schema}: up to date`);
  }
} else {
  console.error('Set DATABASE_URL to the PostgreSQL database to migrate.');
  process.exitCode = 1;
}
