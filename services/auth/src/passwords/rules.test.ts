import { describe, expect, it } from '@jest/globals';
import { checkPassword } from './rules.ts';

const check = (password: string, email = 'someone@example.org') => checkPassword(password, email);

describe('checkPassword', () => {
  it.each([
    '123456789',
    'password1',
    'QWERTYUIOP',
    'iloveyou2',
    '24081990',
    'PASSW0RD',
    'Dimazarya',
  ])('refuses %s, one of those that leaks hold most often', async (password) => {
    await expect(check(password)).rejects.toMatchObject({ code: 'password_too_weak' });
  });

  it('takes rarer ones', async () => {
    await expect(check('correct horse battery staple')).resolves.toBeUndefined();
    await expect(check('someone@example.com')).resolves.toBeUndefined();
  });

  it('refuses the e-mail address and its local part in any case', async () => {
    for (const password of ['Someone@Example.org', 'SOMEONE']) {
      await expect(check(password)).rejects.toMatchObject({ code: 'password_too_weak' });
    }
  });
});
