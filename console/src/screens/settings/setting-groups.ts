import type { SettingName } from './setting/control.ts';

export const groups: readonly { title: string; names: readonly SettingName[] }[] = [
  {
    title: 'Accounts',
    names: [
      'signUp',
      'guests',
      'codes',
      'mustVerify',
      'mustUse2fa',
      'publicProfiles',
      'accountPageUrl',
    ],
  },
  { title: 'Data', names: ['defaultAccess', 'createCollections', 'channels'] },
  { title: 'Files', names: ['storage', 'maxUploadBytes'] },
  { title: 'Mail', names: ['emailRecipients', 'emailAllowList', 'mailContent'] },
  { title: 'Payments', names: ['payments', 'productEditors', 'allowedOrigins'] },
  { title: 'AI', names: ['aiModel'] },
  {
    title: 'What may be spent',
    names: [
      'creditsPerDay',
      'creditsPerMonth',
      'visitorCreditsPerDay',
      'callers',
      'aiPerVisitorPerDay',
      'uploadsPerVisitorPerDay',
      'emailPerVisitorPerDay',
    ],
  },
];
