/**
 * What the shop's mails say: the owner words them, so that nobody mails anything else in its name. Names in braces
 * are fields, and what customers fill in stays text.
 */
const inFrame = (content) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Shop</title>
<style>
body { margin: 0; padding: 24px 16px; background: #f3f4f6; color: #111827; font: 16px/24px -apple-system, 'Segoe UI', Roboto, Arial, sans-serif; }
.card { max-width: 520px; margin: 0 auto; padding: 24px; border-radius: 12px; background: #ffffff; }
h1 { margin: 0 0 16px; font-size: 20px; line-height: 28px; }
p { margin: 0 0 16px; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; }
td { padding: 8px 0; border-top: 1px solid #d1d5db; vertical-align: top; overflow-wrap: anywhere; }
td + td { padding-left: 16px; text-align: right; white-space: nowrap; }
.sum td { font-weight: 700; }
@media (prefers-color-scheme: dark) {
  body { background: #111827; color: #f3f4f6; }
  .card { background: #1f2937; }
  td { border-color: #4b5563; }
}
</style>
</head>
<body>
<div class="card">
${content}
</div>
</body>
</html>`;

/** To the payer's own address alone. */
export const receipt = {
  subject: 'Your receipt: {{total}}',
  html: inFrame(`<h1>Thank you!</h1>
<p>You paid {{total}} on {{paidOn}}.{{#test}} This was a test: no money moved.{{/test}}</p>
<table>
{{#items}}
<tr><td>{{quantity}} × {{name}}</td><td>{{price}}</td></tr>
{{/items}}
<tr class="sum"><td>Total</td><td>{{total}}</td></tr>
</table>`),
  text: `You paid {{total}} on {{paidOn}}.

{{#items}}
{{quantity}} × {{name}}: {{price}}
{{/items}}
`,
  to: 'caller',
  callers: ['users'],
  fields: {
    total: { type: 'string', maxLength: 30 },
    paidOn: { type: 'string', maxLength: 50 },
    test: { type: 'boolean', optional: true },
    items: {
      type: 'list',
      maxItems: 100,
      fields: { name: 'string', quantity: 'number', price: { type: 'string', maxLength: 30 } },
    },
  },
};

/** To the shop, from anybody. */
export const question = {
  subject: 'A question from {{from}}',
  html: inFrame('<h1>{{from}} asks</h1>\n<p>{{message}}</p>'),
  text: '{{from}} asks:\n\n{{message}}\n',
  to: 'owner',
  callers: ['anyone'],
  fields: { from: { type: 'string', maxLength: 200 }, message: { type: 'text', maxLength: 2000 } },
};
