# One image for the worker, the ingress, the codec server and labops; the command says which. The sandbox, which stands in for the lab
# service, is in an image of its own: `--target sandbox`. Debian, because the worker's native core does not run on musl.
# Node 24, not 26: both have long-term support, 24 until April 2028, and a year longer in use. The tests also pass on 26. The digest is that of
# its index of platforms (docs/operations.md#versions-and-image).
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No package needs its install script: the native ones come built.
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm prune --omit=dev && chmod +x dist/workers/labops.js && mv dist/sandbox sandbox-built
# Only the single process on a developer's machine keeps health data in a directory.
RUN rm -r node_modules/@electric-sql
# The package of the native core brings those of all platforms, 27 MB each.
RUN cd node_modules/@temporalio/core-bridge/releases && ls | grep -v "^$(uname -m)-unknown-linux-gnu$" | xargs -r rm -r

FROM ${NODE_IMAGE} AS processes
LABEL org.opencontainers.image.title="lab-operations-worker" \
      org.opencontainers.image.description="Durable lab operations on Temporal: worker, ingress, codec server and labops" \
      org.opencontainers.image.licenses="MIT"
# The worker's native core trusts the system's root certificates, and the base image has none.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/compile-cache
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
RUN ln -s /app/dist/workers/labops.js /usr/local/bin/labops && mkdir compile-cache && chown node compile-cache
USER node
# Later starts find the programs compiled (docs/internals/performance.md#start). Each ends at once: for want of settings (2), or of a Temporal (1).
RUN set -e; \
    for program in worker ingress codec-server; do node dist/workers/$program.js || [ $? -eq 2 ]; done; \
    NODE_ENV=development labops orders list || [ $? -eq 1 ]
# A process without METRICS_PORT says nothing of its health.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["node", "-e", "const { METRICS_PORT: port } = process.env; if (port) fetch(`http://127.0.0.1:${port}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/workers/worker.js"]

FROM processes AS sandbox
COPY --from=build /app/sandbox-built ./dist/sandbox
HEALTHCHECK NONE
CMD ["node", "dist/sandbox/main.js"]

# The last stage is what a build without a target makes.
FROM processes
