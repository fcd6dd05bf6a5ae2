import { expect, it } from '@jest/globals';
import { showProjectName } from './shown-name.ts';

const show = (name: string) => showProjectName({ id: 'p1', name });

it.each([
  'Todo list',
  'Ada’s & Bob’s',
  'Läden / Söhne: Café №1',
  'Version 1.2 of it. Really',
  'Кафе Bar',
  'カフェ Tokyo 東京',
  'متجر Shop',
  'Καφενείο',
  'Plan 👩‍💻',
])('shows an honest name: %s', (name) => {
  expect(show(name)).toBe(name);
});

it.each([
  'PayPal. Your account is limited: sign in at evil.example',
  'https://evil.example',
  'evil．example',
  'evil。example',
  'evil\u200b.example',
  'пример.рф',
  'see 192.0.2.1',
  'www evil',
  'me@evil',
  'mailto:me',
  '\\\\host',
  'РаyРаl',
  'Gοοgle',
  'Backlot',
  'B a c k l o t support',
  'Ваcklot',
  'Васkӏоt',
  'ｂａｃｋｌｏｔ',
  'BACKL0T',
  'Bàcklöt',
  'backIot',
  '\u202e',
  '',
  '   ',
  '\u3164',
  '\u2800 \u200b',
])('shows the id in place of a name that misleads: %j', (name) => {
  expect(show(name)).toBe('Project p1');
});

it('cuts a long name', () => {
  expect(show('x'.repeat(100))).toBe(`${'x'.repeat(50)}…`);
});
