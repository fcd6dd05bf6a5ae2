/** The areas of a project in the order of the navigation: the path below the project, which is the folder in screens/ too. */
export const areas = [
  { path: 'data', label: 'Data' },
  { path: 'rules', label: 'Rules' },
  { path: 'users', label: 'Users' },
  { path: 'groups', label: 'Groups' },
  { path: 'files', label: 'Files' },
  { path: 'mail', label: 'Mail' },
  { path: 'payments', label: 'Payments' },
  { path: 'ai', label: 'AI' },
  { path: 'webhooks', label: 'Webhooks' },
  { path: 'calls', label: 'Live calls' },
  { path: 'usage', label: 'Usage' },
  { path: 'exposure', label: 'Exposure' },
  { path: 'settings', label: 'Settings' },
] as const;
