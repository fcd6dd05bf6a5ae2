/** Refuses every call at once, as cheaply as node:http can: what a flood costs the machine by itself. */
import { createServer } from 'node:http';

const [port = ''] = process.argv.slice(2);
const server = createServer((_req, res) => {
  res.writeHead(429, { 'Content-Type': 'application/json', 'Content-Length': 2 });
  res.end('{}');
});
server.listen(Number(port), '127.0.0.1');
