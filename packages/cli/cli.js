#!/usr/bin/env node

// packages/cli/src/api.ts
import { setTimeout as wait } from "node:timers/promises";

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
  /** After how long the same may succeed; undefined where it will not. */
  retryAfterSeconds;
  /** What is to be solved first. */
  challenge;
  constructor(message, hint, retryAfterSeconds, challenge) {
    super(message);
    this.challenge = challenge;
    this.hint = hint;
    this.retryAfterSeconds = retryAfterSeconds;
  }
};
var timeoutMs = 6e4;
var defaultHost = "http://localhost:8080";
var toOrigin = (host) => {
  const url = URL.canParse(host) ? new URL(host) : void 0;
  if (url && /^https?:$/.test(url.protocol)) return url.origin;
  throw new CallFailed(`"${host}" is no address such as https://api.example.org.`);
};
var toBody = (body) => {
  if (body instanceof ReadableStream) return { body, duplex: "half" };
  return {
    body: body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body) ?? null
  };
};
var openCall = async ({ host, credential }, method, path, body, headers = {}, waitMs = timeoutMs) => {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new Error("It did not answer in time.")), waitMs);
  const request = fetch(host + path, {
    method,
    headers: {
      ...credential !== void 0 && { authorization: `Bearer ${credential}` },
      ...body !== void 0 && { "content-type": "application/json" },
      ...headers
    },
    ...toBody(body),
    signal: stop.signal
  });
  const response = await request.catch((cause) => {
    const hint = cause instanceof Error ? cause.message : "";
    throw new CallFailed(`${host} can not be reached.`, hint, 1);
  }).finally(() => clearTimeout(timer));
  if (response.ok) return response;
  throw toFailure(response, await response.text());
};
var callText = async (...given) => (await openCall(...given)).text();
var mayPass = /* @__PURE__ */ new Set([429, 502, 503, 504]);
var toFailure = ({ status, headers }, text) => {
  const after = mayPass.has(status) ? Number(headers.get("retry-after") ?? 1) : void 0;
  try {
    const { error, hint, challenge } = JSON.parse(text);
    return new CallFailed(error, hint, after, challenge);
  } catch {
    return new CallFailed(`The server answered ${status}.`, void 0, after);
  }
};
var maxTries = 6;
var mostSeconds = 60;
var patiently = async (work) => {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof CallFailed) || tries === maxTries) throw error;
      const { retryAfterSeconds: seconds } = error;
      if (seconds === void 0 || seconds > mostSeconds) throw error;
      await wait(1e3 * Math.max(seconds, 2 ** (tries - 2)));
    }
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
async function* readPages(target, path) {
  let cursor = null;
  do {
    const query = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await call(target, "GET", `${path}limit=1000${query}`);
    yield page.items;
    cursor = page.nextCursor;
  } while (cursor !== null);
}
var readAll = async (target, path) => {
  const items = [];
  for await (const page of readPages(target, `${path}?`)) {
    items.push(...page);
    if (items.length >= maxItems) break;
  }
  return items;
};
var projectPath = (project, rest = "") => `/api/platform/projects/${encodeURIComponent(project)}${rest}`;

// packages/cli/src/commands/collections.ts
var collectionColumns = ["name", "access", "count", "sizeBytes"];
var collectionPath = (project, name) => projectPath(project, `/collections/${encodeURIComponent(name)}`);
var trashPath = (project) => projectPath(project, "/trash/collections");
var addCollections = (program) => {
  const collections = program.command("collections").description("List, rename, delete or restore collections of a project");
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
  collections.command("delete <project> <collection>").description("Delete a collection with all of its records; until keptUntil it can be restored").option("--empty", "its records alone: the collection stays, with its settings").action(async (project, name, options, command) => {
    const path = collectionPath(project, name) + (options.empty ? "?empty=1" : "");
    printRows(
      command,
      [await call(await findTarget(command), "DELETE", path)],
      ["count", "keptUntil"]
    );
  });
  collections.command("deleted <project>").description("Deleted and emptied collections that can be restored").action(async (project, _options, command) => {
    const target = await findTarget(command);
    const { items } = await call(target, "GET", trashPath(project));
    printRows(command, items, ["name", "how", "records", "deletedAt", "keptUntil", "by"]);
  });
  collections.command("restore <project> <collection>").description("Bring a deleted collection back, or what an emptied one had").option("--as <name>", "another one than before").option("--deleted-at <time>", "of several of the name; the newest unless stated").action(
    async (project, name, { as, deletedAt }, command) => {
      const target = await findTarget(command);
      const path = `${collectionPath(project, name)}/restore`;
      const restored = await call(target, "POST", path, { name: as, deletedAt });
      printRows(command, [restored], collectionColumns);
    }
  );
  collections.command("erase <project> <collection>").description("Erase deleted collections of a name for good, which makes room").action(async (project, name, _options, command) => {
    const path = `${trashPath(project)}/${encodeURIComponent(name)}`;
    const target = await findTarget(command);
    printRows(command, [await call(target, "DELETE", path)], ["count"]);
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
      const access2 = given === void 0 ? void 0 : readAccess(given);
      const target = await findTarget(command);
      const path = projectPath(project, "/collections");
      if (collection !== void 0 && access2 !== void 0) {
        const one = `${path}/${encodeURIComponent(collection)}`;
        printRows(
          command,
          [await call(target, "PUT", one, { access: access2 })],
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

// packages/cli/src/commands/archives.ts
import { createReadStream, createWriteStream } from "node:fs";
import { access, rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
var longestCopyMs = 6 * 6e4;
var longestImportMs = 24 * 60 * 6e4;
var printMade = ({ project, left }) => {
  process.stdout.write(`${project.id}
`);
  for (const { entry, reason } of left)
    process.stderr.write(`Left out ${plain(entry)}: ${plain(reason)}
`);
};
var writeWhole = async (body, file2) => {
  const part = `${file2}.part`;
  try {
    await pipeline(Readable.fromWeb(body), createWriteStream(part));
    await rename(part, file2);
  } catch (error) {
    await rm(part, { force: true });
    throw new CallFailed("The archive broke off.", error instanceof Error ? error.message : "");
  }
};
var addArchive = (program) => {
  program.command("archive <project> <file>").description("Write all of a project into a tar: users, records, config, what files there are").option("--files", "with the files").option("--passwords", "with the hashes of passwords").action(
    async (project, file2, { files, passwords }, command) => {
      const query = new URLSearchParams({
        ...files && { files: "1" },
        ...passwords && { passwords: "1" }
      });
      const path = projectPath(project, `/export?${query}`);
      const { body } = await openCall(await findTarget(command), "GET", path);
      if (body) await writeWhole(body, file2);
    }
  );
};
var addRestore = (program) => {
  program.command("restore <file>").description("Make a project from such a tar; prints its id").option("--name <name>", "unless its former one").action(async (file2, { name }, command) => {
    await access(file2).catch(() => {
      throw new CallFailed(`${file2} can not be read.`);
    });
    const query = new URLSearchParams({ ...name !== void 0 && { name } });
    const path = `/api/platform/projects/import?${query}`;
    const body = Readable.toWeb(createReadStream(file2));
    const headers = { "content-type": "application/x-tar" };
    const target = await findTarget(command);
    const response = await openCall(target, "POST", path, body, headers, longestImportMs);
    printMade(await response.json());
  });
};
var addCopy = (program) => {
  program.command("copy <project> <name>").description("Make a project with the same config; prints its id").option("--records", "with the users and records").option("--files", "with the files").option("--passwords", "users of the copy sign in as they do here").action(
    async (project, name, included, command) => {
      const target = await findTarget(command);
      const path = projectPath(project, "/copy");
      const body = { name, ...included };
      const response = await openCall(target, "POST", path, body, {}, longestCopyMs);
      printMade(await response.json());
    }
  );
};
var addArchives = (program) => {
  for (const add of [addArchive, addRestore, addCopy]) add(program);
};

// packages/cli/src/commands/config.ts
import { readFile as readFile2, writeFile as writeFile2 } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
var changesExitCode = 2;
var configPath = (project, query = "") => projectPath(project, `/config${query}`);
var readConfig = async (file2) => {
  const text = await readFile2(file2, "utf8").catch(() => {
    throw new CallFailed(`${file2} can not be read.`);
  });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CallFailed(`${file2} is no JSON.`, error instanceof Error ? error.message : "");
  }
};
var findPlan = (target, project, config) => call(target, "PUT", configPath(project, "?dryRun=1"), config);
var signs = { create: "+", change: "~", delete: "-", left: " " };
var changesSomething = ({ changes }) => changes.some(({ action }) => action !== "left");
var printPlan = (command, plan) => {
  const { stdout } = process;
  if (command.optsWithGlobals().json) {
    stdout.write(`${JSON.stringify(plan, null, 2)}
`);
    return;
  }
  for (const { action, text } of plan.changes)
    stdout.write(`${signs[action] ?? " "} ${plain(text)}
`);
  if (!changesSomething(plan)) stdout.write("Nothing changes.\n");
};
var ask = async () => {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) throw new CallFailed("Nobody can be asked here.", "Pass --yes to apply it.");
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return /^y(es)?$/i.test(await lines.question("Apply this? [y/N] "));
  } finally {
    lines.close();
  }
};
var addExport = (program) => {
  program.command("export <project>").description("What its owner has set, as one file: collections, settings, prompts, products").option("--out <file>", "where to write it; else it is printed").action(async (project, { out }, command) => {
    const config = await call(await findTarget(command), "GET", configPath(project));
    const text = `${JSON.stringify(config, null, 2)}
`;
    if (out === void 0) process.stdout.write(text);
    else await writeFile2(out, text);
  });
};
var addPlan = (program) => {
  program.command("plan <project> <file>").description("What a file would change").option("--detailed-exitcode", `end with ${changesExitCode} where it would change something`).action(
    async (project, file2, { detailedExitcode }, command) => {
      const plan = await findPlan(await findTarget(command), project, await readConfig(file2));
      printPlan(command, plan);
      if (detailedExitcode && changesSomething(plan)) process.exitCode = changesExitCode;
    }
  );
};
var addApply = (program) => {
  program.command("apply <project> <file>").description("Apply a file: all of it, or nothing").option("--yes", "without asking").action(async (project, file2, { yes }, command) => {
    const target = await findTarget(command);
    const config = await readConfig(file2);
    const plan = await findPlan(target, project, config);
    if (!yes || !changesSomething(plan)) printPlan(command, plan);
    if (!changesSomething(plan) || !(yes || await ask())) return;
    const headers = { "if-match": plan.etag };
    const done = await call(target, "PUT", configPath(project), config, headers);
    if (yes) printPlan(command, done);
  });
};
var addConfig = (program) => {
  for (const add of [addExport, addPlan, addApply]) add(program);
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
import { createInterface as createInterface2 } from "node:readline/promises";
import { Writable } from "node:stream";
var readHidden = async (question) => {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const { stdin, stderr } = process;
  if (stdin.isTTY) stderr.write(`${question}: `);
  const lines = createInterface2({ input: stdin, output: silent, terminal: stdin.isTTY === true });
  try {
    return await lines.question("");
  } finally {
    lines.close();
    if (stdin.isTTY) stderr.write("\n");
  }
};

// packages/cli/src/proof-of-work.ts
import { pbkdf2Sync } from "node:crypto";
var mostTries = 1e5;
var mostCost = 1e6;
var solve = ({ parameters, signature }) => {
  const { nonce, salt, cost, keyLength, keyPrefix } = parameters;
  if (!(cost <= mostCost) || !(keyLength <= 64))
    throw new RangeError("The server asks for too much work.");
  const password = Buffer.concat([Buffer.from(nonce, "hex"), Buffer.alloc(4)]);
  for (let counter = 0; counter < mostTries; counter++) {
    password.writeUInt32BE(counter, password.length - 4);
    const key = pbkdf2Sync(password, Buffer.from(salt, "hex"), cost, keyLength, "sha256");
    const derivedKey = key.toString("hex");
    if (!derivedKey.startsWith(keyPrefix)) continue;
    const proof = { challenge: { parameters, signature }, solution: { counter, derivedKey } };
    return Buffer.from(JSON.stringify(proof)).toString("base64");
  }
  throw new RangeError("The challenge has no solution.");
};

// packages/cli/src/commands/login.ts
var auth = "/api/runtime/platform/auth";
var showFactor = async (target, { factorToken, factors }, given) => {
  if (!factors.includes("totp"))
    throw new CallFailed(
      "This account signs in with a passkey, which takes a browser.",
      "A secret key of the project opens what the command does: BACKLOT_KEY, or --key."
    );
  const code = given ?? await readHidden("Code of the authenticator app, or a recovery code");
  const path = `${auth}/factors/verify`;
  const body = { factorToken, code };
  return (await call(target, "POST", path, body)).token;
};
var addLogin = (program) => {
  program.command("login").description("Sign in as an owner; BACKLOT_PASSWORD, or it is asked for").requiredOption("--email <address>", "of the account").option("--sign-up", "make the account").option("--code <code>", "of an account with a second factor, or it is asked for").action(async ({ email, signUp, code }, command) => {
    const host = await findHost(command);
    const password = process.env.BACKLOT_PASSWORD ?? await readHidden("Password");
    const path = `${auth}/${signUp ? "signup" : "signin"}`;
    const target = { host, credential: void 0 };
    const account = { email, password };
    const send = (headers) => call(target, "POST", path, account, headers);
    const answer = await send().catch((error) => {
      if (!(error instanceof CallFailed) || !error.challenge) throw error;
      return send({ "backlot-proof": solve(error.challenge) });
    });
    const token = "token" in answer ? answer.token : await showFactor(target, answer, code);
    const file2 = await keepSession({ host, token });
    process.stdout.write(`Signed in at ${host}; the token is in ${file2}.
`);
  });
};

// packages/cli/src/commands/logs.ts
import { setTimeout as pause } from "node:timers/promises";

// packages/cli/src/event-lines.ts
var maxBlockLetters = 1024 * 1024;
var parse = (block) => {
  const fields = new Map(
    block.split("\n").map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
    })
  );
  const data = fields.get("data");
  if (data === void 0) return void 0;
  return { event: fields.get("event") ?? "message", id: fields.get("id"), data };
};
async function* readEvents(body) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parse(block);
      if (event) yield event;
    }
    if (rest.length > maxBlockLetters) return;
  }
}

// packages/cli/src/commands/logs.ts
var again = { firstMs: 1e3, lastMs: 3e4 };
var printCall = (given) => {
  const { at, status, method, path, ms, caller, userId, keyId, code, error, hint } = given;
  const { fields, skipped } = given;
  const who = userId ?? keyId;
  const by = who === null ? caller : `${caller}:${who}`;
  const lines = [`${at} ${status} ${method} ${path} ${ms} ms ${by}`];
  if (skipped > 0) lines.unshift(`  … ${skipped} calls more, which were too many to be kept`);
  if (error !== null) lines.push(`  ${code}: ${error}`);
  if (hint !== null) lines.push(`  ${hint}`);
  if (fields !== null && fields.length > 0) lines.push(`  fields: ${fields.join(", ")}`);
  for (const line of lines) process.stdout.write(`${plain(line)}
`);
};
var printGap = ({ since, at, calls }) => process.stdout.write(
  plain(`  … ${calls} calls are missing, from ${since} to ${at}`).concat("\n")
);
var print = (isJson, type, item) => {
  if (isJson) process.stdout.write(`${JSON.stringify({ type, ...item })}
`);
  else if (type === "gap") printGap(item);
  else printCall(item);
};
var toQuery = ({ errors, path }, more) => new URLSearchParams({
  ...errors && { status: "failed" },
  ...path !== void 0 && { path },
  ...more
});
var follow = async (target, path, onEvent) => {
  let lastId2;
  let waitMs = again.firstMs;
  for (; ; ) {
    try {
      const headers = lastId2 === void 0 ? {} : { "last-event-id": lastId2 };
      const { body } = await openCall(target, "GET", path, void 0, headers);
      for await (const { event, id, data } of readEvents(body ?? new ReadableStream())) {
        waitMs = again.firstMs;
        lastId2 = id ?? lastId2;
        onEvent(event, data);
      }
    } catch (error) {
      const mayPass2 = error instanceof CallFailed ? error.retryAfterSeconds !== void 0 : true;
      if (!mayPass2) throw error;
    }
    await pause(waitMs);
    waitMs = Math.min(2 * waitMs, again.lastMs);
  }
};
var addLogs = (program) => {
  program.command("logs <project>").description("The last calls of a project, oldest first: who called what, and what failed why").option("--follow", "and those that come, until Ctrl-C").option("--errors", "only those that failed").option("--path <part>", "only those with this in their path, such as /db/orders").option("--limit <count>", "how many of those that were", "50").action(async (project, options, command) => {
    const target = await findTarget(command);
    const isJson = command.optsWithGlobals().json === true;
    const path = projectPath(project, "/requests");
    const list = `${path}?${toQuery(options, { limit: options.limit })}`;
    const { items } = await call(target, "GET", list);
    for (const { type, ...item } of items.reverse()) print(isJson, type, item);
    if (!options.follow) return;
    await follow(target, `${path}/stream?${toQuery(options, {})}`, (event, data) => {
      if (event === "call" || event === "gap") print(isJson, event, JSON.parse(data));
      else if (event === "reset") process.stderr.write("Some calls were left out here.\n");
    });
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

// packages/cli/src/commands/record-lines.ts
import { createReadStream as createReadStream2, createWriteStream as createWriteStream2 } from "node:fs";
import { finished } from "node:stream/promises";
import { InvalidArgumentError as InvalidArgumentError2, Option as Option2 } from "commander";

// packages/cli/src/export-records.ts
import { once } from "node:events";
var newline = 10;
var maxBreaks = 5;
var write = async (out, bytes) => {
  if (bytes.length > 0 && !out.write(bytes)) await once(out, "drain");
};
var lastId = (lines) => {
  const start = lines.lastIndexOf(newline, lines.length - 2) + 1;
  const line = lines.subarray(start).toString().trim();
  return line === "" ? void 0 : JSON.parse(line).id;
};
var passLines = async (body, out, onId) => {
  let held = [];
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk);
    const end = bytes.lastIndexOf(newline) + 1;
    held.push(bytes.subarray(0, end));
    if (end > 0) {
      const lines = Buffer.concat(held);
      held = [];
      await write(out, lines);
      const id = lastId(lines);
      if (id !== void 0) onId(id);
    }
    held.push(bytes.subarray(end));
  }
};
var exportRecords = async (target, path, query, out) => {
  const isCsv = query.get("format") === "csv";
  let breaks = 0;
  for (; ; ) {
    const { body } = await patiently(() => openCall(target, "GET", `${path}?${query}`));
    if (!body) return;
    try {
      if (isCsv) for await (const chunk of body) await write(out, Buffer.from(chunk));
      else
        await passLines(body, out, (id) => {
          query.set("after", id);
          breaks = 0;
        });
      return;
    } catch (error) {
      breaks += 1;
      if (isCsv || breaks > maxBreaks)
        throw new CallFailed("The export broke off.", error instanceof Error ? error.message : "");
    }
  }
};

// packages/cli/src/line-parts.ts
var usualPartBytes = 4 * 1024 * 1024;
var mostPartBytes = 16 * usualPartBytes;
var newline2 = 10;
var quote = 34;
async function* readParts(source, isCsv, partBytes = usualPartBytes) {
  let held = [];
  let size = 0;
  let line = 1;
  let firstLine = 1;
  let isQuoted = false;
  const take = () => {
    const part = { firstLine, next: line, bytes: Buffer.concat(held) };
    held = [];
    size = 0;
    firstLine = line;
    return part;
  };
  const hold = (bytes) => {
    held.push(bytes);
    size += bytes.length;
  };
  for await (const chunk of source) {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === quote && isCsv) isQuoted = !isQuoted;
      if (byte !== newline2) continue;
      line += 1;
      const isHeader = isCsv && firstLine === 1;
      const isFull = size + at + 1 - start >= partBytes;
      if (isQuoted || !(isHeader || isFull)) continue;
      hold(chunk.subarray(start, at + 1));
      start = at + 1;
      yield take();
    }
    hold(chunk.subarray(start));
    if (size > mostPartBytes)
      throw new CallFailed(
        `Line ${firstLine} and what follows has no end.`,
        isCsv ? "Is a quotation mark missing?" : ""
      );
  }
  if (size > 0) {
    line += 1;
    yield take();
  }
}

// packages/cli/src/import-records.ts
var contentTypes = { ndjson: "application/x-ndjson", csv: "text/csv" };
var importRecords = async (target, path, query, source, from) => {
  const name = query.get("import") ?? "";
  const isCsv = query.get("format") === "csv";
  const headers = { "content-type": contentTypes[isCsv ? "csv" : "ndjson"] };
  const totals = { import: name, created: 0, skipped: 0, failed: 0 };
  let header;
  const add = ({ created, skipped, failed, failedCount, types }) => {
    totals.created += created;
    totals.skipped += skipped;
    totals.failed += failedCount;
    for (const { line, code, error } of failed)
      process.stderr.write(`line ${line}: ${plain(error)} (${code})
`);
    if (!types) return;
    totals.types = types;
    query.set("types", JSON.stringify(types));
  };
  const sendPart = async (bytes, firstLine, start) => {
    query.set("firstLine", String(firstLine));
    for (let next = start; next !== null; ) {
      query.set("from", String(next));
      const goOn = `Go on with --import ${name} --from ${next}`;
      const send = () => call(target, "POST", `${path}?${query}`, bytes, headers);
      const done = await patiently(send).catch((error) => {
        if (!(error instanceof CallFailed)) throw error;
        throw new CallFailed(error.message, [error.hint, goOn].filter(Boolean).join("\n"));
      });
      add(done);
      const { stopped } = done;
      if (stopped)
        throw new CallFailed(
          `line ${done.next}: ${stopped.error}`,
          `${stopped.hint ? `${stopped.hint}
` : ""}Go on with --import ${name} --from ${done.next}`
        );
      next = done.next;
    }
  };
  for await (const { bytes, firstLine, next } of readParts(source, isCsv)) {
    if (isCsv && !header) {
      header = bytes;
      continue;
    }
    if (next <= from) continue;
    const body = header ? Buffer.concat([header, bytes]) : bytes;
    await sendPart(body, firstLine, Math.max(from, firstLine));
  }
  return totals;
};

// packages/cli/src/new-id.ts
import { randomBytes } from "node:crypto";
var newId = () => {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes.writeUInt8(112 | bytes.readUInt8(6) & 15, 6);
  bytes.writeUInt8(128 | bytes.readUInt8(8) & 63, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
};

// packages/cli/src/commands/record-lines.ts
var formatOption = () => new Option2("--format <format>", "csv where the file is named so").choices(["ndjson", "csv"]);
var findFormat = (said, file2) => said ?? (file2?.toLowerCase().endsWith(".csv") ? "csv" : "ndjson");
var collectionPath2 = (project, collection) => `/api/runtime/${encodeURIComponent(project)}/db/${encodeURIComponent(collection)}`;
var parseLine = (text) => {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError2("It is the number of a line.");
};
var addRecordExport = (records) => {
  records.command("export <project> <collection>").description("All records, a line each, oldest first").addOption(formatOption()).option("--where <filter>", `those that fit, such as '{"done":true}'`).option("--fields <names>", "these fields alone; of CSV the columns").option("--out <file>", "where to write them; else they are printed").action(
    async (project, collection, { format, where, fields, out }, command) => {
      const query = new URLSearchParams({
        format: findFormat(format, out),
        ...where && { where },
        ...fields && { fields }
      });
      const path = `${collectionPath2(project, collection)}/_export`;
      const target = await findTarget(command);
      if (out === void 0) return exportRecords(target, path, query, process.stdout);
      const file2 = createWriteStream2(out);
      await exportRecords(target, path, query, file2);
      await finished(file2.end());
    }
  );
};
var addRecordImport = (records) => {
  records.command("import <project> <collection> <file>").description("Make records of the lines of a file; - is what is piped in").addOption(formatOption()).option("--import <id>", "go on with the import of this name: what is done is not done again").option("--from <line>", "lines before it were done", parseLine, 1).option("--types <json>", `of columns of CSV, such as '{"zip":"text"}'`).option("--id-field <name>", "the field that keeps ids which are no UUIDv7").option("--drop-unknown-owners", "records of who is no user here become nobody’s").option("--dry-run", "read and check the lines, and write nothing").action(
    async (project, collection, file2, options, command) => {
      const name = options.import ?? newId();
      const { types, idField, from } = options;
      if (from > 1 && !options.import)
        throw new CallFailed("--from goes on with an import.", "Name it by --import.");
      const query = new URLSearchParams({
        format: findFormat(options.format, file2),
        import: name,
        ...types && { types },
        ...idField && { idField },
        ...options.dropUnknownOwners && { unknownOwners: "drop" },
        ...options.dryRun && { dryRun: "1" }
      });
      const source = file2 === "-" ? process.stdin : createReadStream2(file2);
      const path = `${collectionPath2(project, collection)}/_import`;
      process.stderr.write(`If it breaks off: --import ${name}
`);
      const target = await findTarget(command);
      const done = await importRecords(target, path, query, source, from);
      printRows(command, [done], ["import", "created", "skipped", "failed"]);
      if (done.failed > 0) process.exitCode = 1;
    }
  );
};

// packages/cli/src/commands/records.ts
var addRecords = (program) => {
  const records = program.command("records").description("Delete, export and import records of a project");
  records.command("delete <project> <collection> <where>").description(`Delete those that fit a filter, such as '{"done":true}', for good`).option("--dry-run", "only count them").action(
    async (project, collection, where, { dryRun }, command) => {
      const target = await findTarget(command);
      const path = collectionPath2(project, collection);
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
  addRecordExport(records);
  addRecordImport(records);
};

// packages/cli/src/commands/schema.ts
import { readFile as readFile3 } from "node:fs/promises";
var readSchema = async (given) => {
  try {
    return JSON.parse(given.startsWith("@") ? await readFile3(given.slice(1), "utf8") : given);
  } catch (error) {
    throw new CallFailed(
      `The schema can not be read: ${error instanceof Error ? error.message : error}.`,
      "JSON in single quotes, @<file>, or null to remove it."
    );
  }
};
var print2 = (value) => process.stdout.write(`${JSON.stringify(value, null, 2)}
`);
var addSchema = (program) => {
  program.command("schema <project> <collection>").description("What the records of a collection have to be, as JSON Schema").option("--set <schema>", "JSON, @<file>, or null, which removes it").option("--propose", "one that a sample of the records fits; sets nothing").option("--report", "how many records do not fit; the first call begins to count").action(async (project, name, options, command) => {
    const target = await findTarget(command);
    const path = projectPath(project, "/collections");
    const one = `${path}/${encodeURIComponent(name)}`;
    if (options.report) {
      const report = await call(target, "GET", `${one}/schema-report`);
      printRows(command, [report], ["state", "checked", "unfit", "problems"]);
      return;
    }
    if (options.propose) {
      const { schema } = await call(
        target,
        "POST",
        `${one}/schema-from-records`
      );
      print2(schema);
      return;
    }
    if (options.set !== void 0) {
      const schema = await readSchema(options.set);
      print2((await call(target, "PUT", one, { schema })).schema);
      return;
    }
    const { items } = await call(
      target,
      "GET",
      path
    );
    print2(items.find((collection) => collection.name === name)?.schema ?? null);
  });
};

// packages/cli/src/commands/types.ts
import { writeFile as writeFile3 } from "node:fs/promises";
var addTypes = (program) => {
  program.command("types <project>").description("The collections as TypeScript, for createClient<Project>()").option("--out <file>", "where to write them; else they are printed").action(async (project, { out }, command) => {
    const path = `/api/runtime/${encodeURIComponent(project)}/types.d.ts`;
    const text = await callText(await findTarget(command), "GET", path);
    if (out === void 0) process.stdout.write(text);
    else await writeFile3(out, text);
  });
};

// packages/cli/src/commands/undo.ts
import { setTimeout as pause2 } from "node:timers/promises";
var lookEveryMs = 1e3;
var addUndo = (program) => {
  program.command("undo <project>").description(
    "Take back what was changed, by anybody or one actor, since a time or restore point"
  ).option("--since <time>", "such as 2026-11-27T14:05:00Z").option("--restore-point <name>", "in place of a time").option("--actor <actor>", "user:<id>, key:<id>, owner, operator or visitor").option("--request <id>", "of one call; undo:<id> takes an undo back").option("--collections <names...>", "only these").option("--dry-run", "only counts what it would do").action(async (project, options, command) => {
    const target = await findTarget(command);
    const { request: requestId, ...given } = options;
    const path = projectPath(project, "/undo");
    let undo = await call(target, "POST", path, { ...given, requestId });
    while (undo.state === "running") {
      await pause2(lookEveryMs);
      undo = await call(target, "GET", `${path}/${undo.id}`);
    }
    const shown = [
      "state",
      "created",
      "updated",
      "deleted",
      "conflictCount",
      "conflicts",
      "collections",
      "notUndone",
      "error"
    ];
    printRows(command, [undo], shown);
  });
  program.command("restore-points <project>").description("Names of states of all records, to which an undo brings them back").option("--create <name>", "names what there is now").option("--delete <name>").action(
    async (project, options, command) => {
      const target = await findTarget(command);
      const path = projectPath(project, "/restore-points");
      if (options.create !== void 0)
        await call(target, "POST", path, { name: options.create });
      if (options.delete !== void 0)
        await call(target, "DELETE", `${path}/${encodeURIComponent(options.delete)}`);
      const { items } = await call(target, "GET", path);
      printRows(command, items, ["name", "createdAt"]);
    }
  );
};

// packages/cli/src/export-user.ts
import { once as once2 } from "node:events";
var write2 = async (line) => {
  if (!process.stdout.write(`${JSON.stringify(line)}
`)) await once2(process.stdout, "drain");
};
var exportUser = async (target, project, id) => {
  const name = encodeURIComponent(id);
  const ofProject = (rest) => projectPath(project, rest);
  const account = await call(target, "GET", ofProject(`/users/${name}/export`));
  await write2({ kind: "account", ...account });
  const { email } = account.user;
  const lists = [
    ["record", ofProject(`/users/${name}/records?`)],
    ["file", ofProject(`/files?owner=${name}&`)],
    ...email === null ? [] : [["mail", ofProject(`/emails?email=${encodeURIComponent(email)}&`)]],
    ["payment", ofProject(`/payments?user=${name}&`)]
  ];
  for (const [kind, path] of lists)
    for await (const items of readPages(target, path))
      for (const item of items) await write2({ kind, ...item });
};

// packages/cli/src/commands/users.ts
var setBlock = async (command, project, id, body) => {
  const path = projectPath(project, `/users/${encodeURIComponent(id)}`);
  await call(await findTarget(command), "PATCH", path, body);
};
var addUsers = (program) => {
  const users = program.command("users").description("List, block, export or erase users of a project");
  users.command("list <project>", { isDefault: true }).action(async (project, _options, command) => {
    const rows = await readAll(await findTarget(command), projectPath(project, "/users"));
    printRows(command, rows, ["id", "email", "name", "role", "emailVerified", "createdAt"]);
  });
  users.command("delete <project> <id>").description("Erase a user and their sessions").action(async (project, id, _options, command) => {
    const path = projectPath(project, `/users/${encodeURIComponent(id)}`);
    await call(await findTarget(command), "DELETE", path);
  });
  users.command("block <project> <id>").description("From now on the user reads what anyone reads, and writes nothing").option("--reason <text>", "shown to the user").option("--until <time>", "in ISO 8601; without it for good").action(async (project, id, block, command) => {
    await setBlock(command, project, id, { blocked: true, ...block });
  });
  users.command("unblock <project> <id>").action(async (project, id, _options, command) => {
    await setBlock(command, project, id, { blocked: false });
  });
  users.command("export <project> <id>").description(
    "All that there is of a user, as lines of JSON: account, records, files, mails, payments"
  ).action(async (project, id, _options, command) => {
    await exportUser(await findTarget(command), project, id);
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
    addSchema,
    addUndo,
    addConfig,
    addArchives,
    addUsers,
    addLogs
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
