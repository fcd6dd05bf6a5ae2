# One image for every deployable: the command names the entry, gateway/src/main.ts unless told
# otherwise. Node runs the TypeScript as it is, so nothing is built but the console, for browsers.
FROM node:26.10.0-slim AS manifests
WORKDIR /app
COPY . .
RUN find . -type f ! -name package.json ! -name 'pnpm-*.yaml' -delete

# A layer of its own, which stays as it is while only code changes.
FROM node:26.10.0-slim AS dependencies
WORKDIR /app
COPY --from=manifests /app ./
# local-servers starts databases for development: its binaries stay out of the image. A volume that is
# mounted at files/ takes on who may write there.
RUN --mount=type=cache,target=/root/.local/share/pnpm/store \
    npx -y pnpm@12 install --prod --frozen-lockfile --filter @backlot/all-in-one... --filter @backlot/ops... --filter !@backlot/local-servers && \
    mkdir -m 1777 files

FROM node:26.10.0-slim AS console
WORKDIR /app
COPY . .
RUN --mount=type=cache,target=/root/.local/share/pnpm/store \
    npx -y pnpm@12 install --prod --frozen-lockfile --filter @backlot/console... && \
    node console/build/main.ts

FROM node:26.10.0-slim
ENV NODE_ENV=production PORT=8080 HOST=::
WORKDIR /app
COPY --from=dependencies /app ./
COPY . .
COPY --from=console /app/console/dist console/dist
USER 1000:1000
EXPOSE 8080
STOPSIGNAL SIGTERM
# By bash, because a Node process costs a hundred times as much; often only until the first success.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --start-interval=1s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$PORT && printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r status <&3 && [[ $status == *' 200 '* ]]"]
ENTRYPOINT ["node"]
CMD ["gateway/src/main.ts"]
