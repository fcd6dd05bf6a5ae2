-- Every table but signing_keys, outbox and idempotency carries the project's number, the tenant.

CREATE TABLE users (
  project_number int8 NOT NULL,
  id uuid NOT NULL,
  -- Trimmed and lower-cased.
  email text NOT NULL,
  name text,
  role text NOT NULL DEFAULT 'user',
  email_verified boolean NOT NULL DEFAULT false,
  password_hash text NOT NULL,
  -- Counts the passwords that the account has had; a rehash of the same password leaves it.
  password_version int4 NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, id),
  CONSTRAINT users_email UNIQUE (project_number, email)
);

-- A session lives as long as its row does and its time has not passed.
CREATE TABLE sessions (
  project_number int8 NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, id),
  FOREIGN KEY (project_number, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX sessions_user ON sessions (project_number, user_id, id);
CREATE INDEX sessions_expires_at ON sessions (expires_at);

-- Addresses from which an account signed in, as SHA-256.
CREATE TABLE known_addresses (
  project_number int8 NOT NULL,
  user_id uuid NOT NULL,
  address bytea NOT NULL,
  last_seen_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, user_id, address),
  FOREIGN KEY (project_number, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX known_addresses_last_seen_at ON known_addresses (last_seen_at);

-- One live token per user and purpose. Rows without a user are written for unknown addresses, so that
-- asking for a link costs the same for those.
CREATE TABLE one_time_tokens (
  project_number int8 NOT NULL,
  token_hash bytea NOT NULL,
  user_id uuid,
  purpose text NOT NULL CHECK (purpose IN ('verify', 'reset')),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, token_hash),
  CONSTRAINT one_time_tokens_user UNIQUE (project_number, user_id, purpose),
  FOREIGN KEY (project_number, user_id) REFERENCES users ON DELETE CASCADE
);
CREATE INDEX one_time_tokens_expires_at ON one_time_tokens (expires_at);

-- `counter` is the SHA-256 of what is counted: no address and no e-mail is kept in the clear.
CREATE TABLE attempts (
  project_number int8 NOT NULL,
  counter bytea NOT NULL,
  used int4 NOT NULL,
  allowed int4 NOT NULL,
  window_ends_at timestamptz NOT NULL,
  PRIMARY KEY (project_number, counter)
);
CREATE INDEX attempts_window_ends_at ON attempts (window_ends_at);

-- The platform's own; private keys are sealed with AES-256-GCM under the master key.
CREATE TABLE signing_keys (
  kid text PRIMARY KEY,
  state text NOT NULL CHECK (state IN ('next', 'current', 'retired')),
  public_jwk jsonb NOT NULL,
  sealed_private_key bytea NOT NULL,
  created_at timestamptz NOT NULL,
  -- When it began to sign.
  current_since timestamptz,
  -- When the last token signed by it has expired.
  published_until timestamptz
);
CREATE UNIQUE INDEX signing_keys_one_each ON signing_keys (state) WHERE state <> 'retired';

CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id uuid NOT NULL DEFAULT gen_random_uuid(),
  topic text NOT NULL,
  payload jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE idempotency (
  scope_hash bytea PRIMARY KEY,
  request_hash bytea NOT NULL,
  sealed_answer bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX idempotency_created_at ON idempotency (created_at);
