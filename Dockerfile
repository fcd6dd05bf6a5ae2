# One image for every deployable: the command names the entry, gateway/src/main.ts unless told
# otherwise. Node runs the TypeScript as it is, so nothing is built.
FROM node:24.21.0-slim AS dependencies
WORKDIR /app
COPY . .
# local-servers starts databases for development: its binaries stay out of the image. A volume that is
# mounted at files/ takes on who may write there.
RUN --mount=type=cache,target=/root/.local/share/pnpm/store \
    npx -y pnpm@12 install --prod --frozen-lockfile --filter @backlot/all-in-one... --filter !@backlot/local-servers && \
    mkdir -m 1777 files

FROM node:24.21.0-slim
ENV NODE_ENV=production PORT=8080
WORKDIR /app
COPY --from=dependencies /app ./
USER 1000:1000
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=6 \
    CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node"]
CMD ["gateway/src/main.ts"]
