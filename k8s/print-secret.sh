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
for name in gateway projects; do
  upper=$(echo "$name" | tr a-z A-Z)
  echo "BACKLOT_${upper}_REDIS_URL=redis://$name:$(value "${upper}_REDIS_PASSWORD")@$redis"
done
echo "BACKLOT_GATEWAY_AMQP_URL=amqp://gateway:$(value GATEWAY_RABBITMQ_PASSWORD)@$rabbitmq"
for name in auth records ai storage email payments projects; do
  upper=$(echo "$name" | tr a-z A-Z)
  echo "BACKLOT_${upper}_AMQP_URL=amqp://$name:$(value "${upper}_RABBITMQ_PASSWORD")@$rabbitmq"
  echo "BACKLOT_${upper}_DATABASE_URL=postgres://backlot_$name:$(value "${upper}_POSTGRES_PASSWORD")@$postgres"
done
