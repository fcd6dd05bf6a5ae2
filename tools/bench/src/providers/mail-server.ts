/** A mail server that takes every mail at once and keeps none. */
import { SMTPServer } from 'smtp-server';

new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  disableReverseLookup: true,
  onData(stream, _session, done) {
    stream.once('end', () => done()).resume();
  },
}).listen(Number(process.argv[2]), '127.0.0.1');
