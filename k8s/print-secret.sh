#!/bin/sh
# Prints the Secret backlot-secrets as lines NAME=value: those of a file that `pnpm secrets` has written, and
# the addresses that are made from them.
# Usage: POSTGRES=host:port/database RABBITMQ=host:port REDIS=host:port sh k8s/print-secret.sh <file>
set -eu
file=$1
postgres=${POSTGRES:-postgres:5432/backlot}
rabbitmq=${RABBITMQ:-rabbitmq:5672}
redis=${REDIS:-redis:6379}
value() { sed -n "s/^$1=//p" "$file" | tail -n 1; }

grep '^[A-Z][A-Z_]*=.' "$file"
echo "DATABASE_URL=postgres://backlot:$(value POSTGRES_PASSWORD)@$postgres"
# `owners REDIS` lists whose passwords of Redis the file holds.
owners() { sed -n "s/^\([A-Z]*\)_$1_PASSWORD=.*/\1/p" "$file"; }
lower() { echo "$1" | tr A-Z a-z; }
for name in $(owners REDIS); do
  echo "BACKLOT_${name}_REDIS_URL=redis://$(lower "$name"):$(value "${name}_REDIS_PASSWORD")@$redis"
done
for name in $(owners RABBITMQ); do
  echo "BACKLOT_${name}_AMQP_URL=amqp://$(lower "$name"):$(value "${name}_RABBITMQ_PASSWORD")@$rabbitmq"
done
for name in $(owners POSTGRES); do
  role=$(value "${name}_POSTGRES_ROLE")
  echo "BACKLOT_${name}_DATABASE_URL=postgres://${role:-backlot_$(lower "$name")}:$(value "${name}_POSTGRES_PASSWORD")@$postgres"
done
