#!/usr/bin/env node

// packages/cli/src/session.ts
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
var file = () => join(process.env.XDG_CONFIG_HOME || join(homedir(), ".config"), "backlot", "session.json");
var readSession = async () => {
  try {
    return JSON.parse(await readFile(file(), "utf8"));
  } catch {
    return void 0;
  }
};
var keepSession = async (session) => {
  await mkdir(dirname(file()), { recursive: true, mode: 448 });
  await writeFile(file(), JSON.stringify(session), { mode: 384 });
  return file();
};

// packages/cli/src/api.ts
var CallFailed = class extends Error {
  name = "CallFailed";
  hint;
  constructor(message, hint) {
    super(message);
    this.hint = hint;
  }
};
var timeoutMs = 6e4;
var defaultHost = "http://localhost:8080";
var toOrigin = (host) => {
  const url = URL.canParse(host) ? new URL(host) : void 0;
  if (url && /^https?:$/.test(url.protocol)) return url.origin;
  throw new CallFailed(`"${host}" is no address such as https://api.example.org.`);
};
var callText = async ({ host, credential }, method, path, body) => {
  const request = fetch(host + path, {
    method,
    headers: {
      ...credential !== void 0 && { authorization: `Bearer ${credential}` },
      ...body !== void 0 && { "content-type": "application/json" }
    },
    body: body === void 0 ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs)
  });
  const response = await request.catch((cause) => {
    throw new CallFailed(
      `${host} can not be reached.`,
      cause instanceof Error ? cause.message : ""
    );
  });
  const text = await response.text();
  if (response.ok) return text;
  throw toFailure(response.status, text);
};
var toFailure = (status, text) => {
  try {
    const { error, hint } = JSON.parse(text);
    return new CallFailed(error, hint);
  } catch {
    return new CallFailed(`The server answered ${status}.`);
  }
};
var call = async (...given) => JSON.parse(await callText(...given));
var findHost = async (command) => {
  const { host } = command.optsWithGlobals();
  return toOrigin(host ?? process.env.BACKLOT_HOST ?? (await readSession())?.host ?? defaultHost);
};
var findTarget = async (command) => {
  const host = await findHost(command);
  const session = await readSession();
  const credential = command.optsWithGlobals().key ?? process.env.BACKLOT_KEY ?? (session?.host === host ? session.token : void 0);
  if (credential) return { host, credential };
  throw new CallFailed(`You are not signed in at ${host}.`, "Run: backlot login, or pass --key.");
};

// packages/cli/src/program.ts
import { createRequire } from "node:module";
import { Command } from "commander";

// packages/cli/src/output.ts
var plain = (value) => toText(value).replace(/[\p{Cc}\p{Bidi_Control}]/gu, "");
var toText = (value) => {
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value ?? "");
};
var printRows = (command, rows, columns3) => {
  if (command.optsWithGlobals().json) {
    process.stdout.write(`${JSON.stringify(rows, null, 2)}
`);
    return;
  }
  const lines = [
    [...columns3],
    ...rows.map((row) => columns3.map((column) => plain(row[column])))
  ];
  const widths = columns3.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  for (const line of lines) {
    const cells = line.map((cell, at) => cell.padEnd(widths[at] ?? 0));
    process.stdout.write(`${cells.join("  ").trimEnd()}
`);
  }
};

// packages/cli/src/pages.ts
var maxItems = 1e4;
var readAll = async (target, path) => {
  const items = [];
  let cursor = null;
  do {
    const query = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await call(target, "GET", `${path}?limit=1000${query}`);
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null && items.length < maxItems);
  return items;
};
var projectPath = (project, rest = "") => `/api/platform/projects/${encodeURIComponent(project)}${rest}`;

// packages/cli/src/commands/collections.ts
var collectionColumns = ["name", "access", "count", "sizeBytes"];
var collectionPath = (project, name) => projectPath(project, `/collections/${encodeURIComponent(name)}`);
var addCollections = (program) => {
  const collections = program.command("collections").description("List, rename or delete collections of a project");
  collections.command("list <project>", { isDefault: true }).action(async (project, _options, command) => {
    const target = await findTarget(command);
    const path = projectPath(project, "/collections");
    const { items } = await call(target, "GET", path);
    printRows(command, items, collectionColumns);
  });
  collections.command("rename <project> <collection> <name>").description("Apps that call it by the old name find nothing there").action(
    async (project, from, name, _options, command) => {
      const target = await findTarget(command);
      const renamed = await call(target, "PATCH", collectionPath(project, from), {
        name
      });
      printRows(command, [renamed], collectionColumns);
    }
  );
  collections.command("delete <project> <collection>").description("Delete a collection with all of its records, for good").option("--empty", "its records alone: the collection stays, with its settings").action(async (project, name, options, command) => {
    const path = collectionPath(project, name) + (options.empty ? "?empty=1" : "");
    printRows(
      command,
      [await call(await findTarget(command), "DELETE", path)],
      ["count"]
    );
  });
};

// packages/cli/src/commands/access.ts
var example = '{"read":["anyone"],"create":["users"],"change":["owner"]}';
var readAccess = (text) => {
  if (!/^\s*[{["]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new CallFailed(
      `"${text}" is no JSON.`,
      `Rules in single quotes, so that the shell leaves them: '${example}'.`
    );
  }
};
var addAccess = (program) => {
  program.command("access <project> [collection] [access]").description(
    "Who may read and change collections; with a preset or rules as JSON, set it for one"
  ).action(
    async (project, collection, given, _options, command) => {
      const access = given === void 0 ? void 0 : readAccess(given);
      const target = await findTarget(command);
      const path = projectPath(project, "/collections");
      if (collection !== void 0 && access !== void 0) {
        const one = `${path}/${encodeURIComponent(collection)}`;
        printRows(
          command,
          [await call(target, "PUT", one, { access })],
          collectionColumns
        );
        return;
      }
      const { items } = await call(target, "GET", path);
      const rows = items.filter(({ name }) => collection === void 0 || name === collection);
      printRows(command, rows, collectionColumns);
    }
  );
};

// packages/cli/src/commands/keys.ts
import { InvalidArgumentError, Option } from "commander";
var columns = ["id", "name", "scopes", "createdAt", "expiresAt", "lastUsedAt"];
var dayMs = 24 * 60 * 60 * 1e3;
var readDays = (text) => {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give a number of days from 1 to 9999.");
};
var bodyFor = (name, { scope, days }) => ({
  name,
  ...scope && { scopes: scope },
  ...days !== void 0 && { expiresAt: new Date(Date.now() + days * dayMs).toISOString() }
});
var addKeys = (program) => {
  const keys = program.command("keys").description("List, make or revoke secret keys of a project");
  keys.command("list <project>", { isDefault: true }).action(async (project, _options, command) => {
    const rows = await readAll(await findTarget(command), projectPath(project, "/keys"));
    printRows(command, rows, columns);
  });
  keys.command("create <project> <name>").description("The key is shown this once").addOption(
    new Option("--scope <scope...>", "what it opens; read and write unless stated").choices([
      "read",
      "write",
      "admin"
    ])
  ).option("--days <days>", "when it ends; never unless stated", readDays).action(async (project, name, options, command) => {
    const path = projectPath(project, "/keys");
    const made = await call(
      await findTarget(command),
      "POST",
      path,
      bodyFor(name, options)
    );
    printRows(command, [made], ["key", "scopes", "expiresAt"]);
  });
  keys.command("delete <project> <id>").description("Revoke a key at once").action(async (project, id, _options, command) => {
    const path = projectPath(project, `/keys/${encodeURIComponent(id)}`);
    await call(await findTarget(command), "DELETE", path);
  });
};

// packages/cli/src/password.ts
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
var readPassword = async () => {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const { stdin, stderr } = process;
  if (stdin.isTTY) stderr.write("Password: ");
  const lines = createInterface({ input: stdin, output: silent, terminal: stdin.isTTY === true });
  try {
    return await lines.question("");
  } finally {
    lines.close();
    if (stdin.isTTY) stderr.write("\n");
  }
};

// packages/cli/src/commands/login.ts
var addLogin = (program) => {
  program.command("login").description("Sign in as an owner; BACKLOT_PASSWORD, or it is asked for").requiredOption("--email <address>", "of the account").option("--sign-up", "make the account").action(async ({ email, signUp }, command) => {
    const host = await findHost(command);
    const password = process.env.BACKLOT_PASSWORD ?? await readPassword();
    const path = `/api/runtime/platform/auth/${signUp ? "signup" : "signin"}`;
    const target = { host, credential: void 0 };
    const { token } = await call(target, "POST", path, { email, password });
    const file2 = await keepSession({ host, token });
    process.stdout.write(`Signed in at ${host}; the token is in ${file2}.
`);
  });
};

// packages/cli/src/commands/projects.ts
var columns2 = ["id", "name", "status", "baseUrl"];
var addProjects = (program) => {
  const projects = program.command("projects").description("List or make projects");
  projects.command("list", { isDefault: true }).description("Own projects, newest first").action(async (_options, command) => {
    const rows = await readAll(await findTarget(command), "/api/platform/projects");
    printRows(command, rows, columns2);
  });
  projects.command("create <name>").description("Make a project").action(async (name, _options, command) => {
    const target = await findTarget(command);
    const made = await call(target, "POST", "/api/platform/projects", { name });
    printRows(command, [made], columns2);
  });
};

// packages/cli/src/commands/records.ts
var addRecords = (program) => {
  const records = program.command("records").description("Delete records of a project");
  records.command("delete <project> <collection> <where>").description(`Delete those that fit a filter, such as '{"done":true}', for good`).option("--dry-run", "only count them").action(
    async (project, collection, where, { dryRun }, command) => {
      const target = await findTarget(command);
      const path = `/api/runtime/${encodeURIComponent(project)}/db/${encodeURIComponent(collection)}`;
      const query = new URLSearchParams({ where, ...dryRun && { dryRun: "1" } });
      let count = 0;
      for (; ; ) {
        const { nextCursor, ...part } = await call(target, "DELETE", `${path}?${query}`);
        count += part.count;
        if (nextCursor === null)
          return printRows(command, [{ ...part, count }], Object.keys(part));
        query.set("cursor", nextCursor);
      }
    }
  );
};

// packages/cli/src/commands/types.ts
import { writeFile as writeFile2 } from "node:fs/promises";
var addTypes = (program) => {
  program.command("types <project>").description("The collections as TypeScript, for createClient<Project>()").option("--out <file>", "where to write them; else they are printed").action(async (project, { out }, command) => {
    const path = `/api/runtime/${encodeURIComponent(project)}/types.d.ts`;
    const text = await callText(await findTarget(command), "GET", path);
    if (out === void 0) process.stdout.write(text);
    else await writeFile2(out, text);
  });
};

// packages/cli/src/commands/users.ts
var addUsers = (program) => {
  const users = program.command("users").description("List or erase users of a project");
  users.command("list <project>", { isDefault: true }).action(async (project, _options, command) => {
    const rows = await readAll(await findTarget(command), projectPath(project, "/users"));
    printRows(command, rows, ["id", "email", "name", "role", "emailVerified", "createdAt"]);
  });
  users.command("delete <project> <id>").description("Erase a user and their sessions").action(async (project, id, _options, command) => {
    const path = projectPath(project, `/users/${encodeURIComponent(id)}`);
    await call(await findTarget(command), "DELETE", path);
  });
};

// packages/cli/src/program.ts
var { version } = createRequire(import.meta.url)("@backlot/cli/package.json");
var createProgram = () => {
  const program = new Command("backlot").description("Projects of a Backlot installation").version(version).option("--host <address>", "the installation; BACKLOT_HOST, or the one signed in at").option("--key <key>", "a secret key instead of the sign-in; BACKLOT_KEY").option("--json", "print the answers as JSON").showHelpAfterError();
  for (const add of [
    addLogin,
    addProjects,
    addTypes,
    addKeys,
    addAccess,
    addCollections,
    addRecords,
    addUsers
  ])
    add(program);
  return program;
};

// packages/cli/src/main.ts
try {
  await createProgram().parseAsync();
} catch (error) {
  if (!(error instanceof CallFailed)) throw error;
  process.stderr.write(`${error.message}
${error.hint ? `${error.hint}
` : ""}`);
  process.exitCode = 1;
}
