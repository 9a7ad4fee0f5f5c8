# One image for the worker, the ingress, the codec server, the sandbox and labops; the command says which. Debian, because the
# worker's native core does not run on musl. Node 24 is the line with long-term support; the digest is that of its
# index of platforms (docs/operations.md#image).
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No package needs its install script: the native ones come built.
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm prune --omit=dev && chmod +x dist/workers/labops.js

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
RUN ln -s /app/dist/workers/labops.js /usr/local/bin/labops
USER node
CMD ["node", "dist/workers/worker.js"]
