import { Html } from '@backlot/http';

const parts = ['Users', 'Records', 'Files', 'Mail', 'Payments', 'AI'];

const box = (x: number, y: number, width: number, text: string, kind = '') =>
  `<rect class="box ${kind}" x="${x}" y="${y}" width="${width}" height="36" rx="6"/><text x="${x + width / 2}" y="${y + 23}">${text}</text>`;

const rows = parts.map((part, index) => {
  const y = 12 + index * 46;
  return `<path d="M236 145 C 262 145, 262 ${y + 18}, 288 ${y + 18}"/>${box(288, y, 120, part)}`;
});

/** An app in a browser calls its project, which has everything behind one address. */
export const picture =
  new Html(`<svg class="picture" viewBox="0 0 420 290" role="img" aria-labelledby="picture-title">
<title id="picture-title">Your app calls one address; users, records, files, mail, payments and AI are behind it.</title>
<rect class="box" x="8" y="82" width="112" height="126" rx="8"/>
<path d="M8 104 H120"/><circle cx="20" cy="93" r="3"/><circle cx="31" cy="93" r="3"/>
<path class="text-line" d="M22 126 H92 M22 142 H106 M22 158 H78"/>
<text x="64" y="192">Your app</text>
<path class="call" d="M120 145 H158"/><path class="call" d="M152 140 L158 145 L152 150"/>
${box(160, 127, 76, 'Backlot', 'own')}
${rows.join('\n')}
</svg>`);
