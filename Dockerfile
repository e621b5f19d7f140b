# syntax=docker/dockerfile:1
# Two images from one build: `docker build .` gives the service alone, from scratch; `--target debug` adds a shell.
ARG SWIFT_IMAGE=swift:6.3-bookworm

# A libcurl for HTTP alone: with Debian's own the image would carry LDAP, Kerberos, SSH and a second TLS library.
FROM debian:bookworm-slim AS curl
WORKDIR /source
COPY scripts/slim-curl scripts/
RUN scripts/slim-curl /curl

FROM ${SWIFT_IMAGE} AS build
WORKDIR /source
COPY scripts/setup scripts/closure scripts/packages.txt scripts/
# The upgrade brings the security fixes that are younger than the image: its libraries go into ours. The flavour of libcurl
# is the one of the stage above, whatever the Swift image brings.
RUN scripts/setup && apt-get update && apt-get install -y --no-install-recommends libcurl4-gnutls-dev \
 && apt-get upgrade -y && rm -rf /var/lib/apt/lists/*
COPY --from=curl /curl /curl
COPY . .
# Small: no symbols, nothing exported, nothing unused or twice, packed relocations; together 2 MB of 20.
RUN --mount=type=cache,target=/source/.build,sharing=locked \
    swift build -c release --product reachd --static-swift-stdlib -Xswiftc -use-ld=lld -Xlinker -s \
      -Xlinker --no-export-dynamic -Xlinker --gc-sections -Xlinker --icf=safe -Xlinker -z -Xlinker pack-relative-relocs \
 && cp -P /curl/* "/usr/lib/$(uname -m)-linux-gnu/" \
 && scripts/closure "$(swift build -c release --show-bin-path)/reachd" /image

FROM debian:bookworm-slim AS debug
ARG REVISION=unknown
LABEL org.opencontainers.image.title="reachd (debug)" \
      org.opencontainers.image.description="reachd with a shell beside it" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /image/usr /usr
COPY --from=build /image/etc/ssl /etc/ssl
USER 65532:65532
EXPOSE 8080
ENV REACHD_DEFAULT_LISTEN=0.0.0.0:8080
HEALTHCHECK --interval=10s --timeout=6s --start-period=5s CMD ["/usr/bin/reachd", "healthcheck"]
ENTRYPOINT ["/usr/bin/reachd"]
CMD ["serve"]

FROM scratch
ARG REVISION=unknown
LABEL org.opencontainers.image.title="reachd" \
      org.opencontainers.image.description="Knows from the kernel whether this machine can be reached, and says so at once" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /image /
USER 65532:65532
EXPOSE 8080
ENV REACHD_DEFAULT_LISTEN=0.0.0.0:8080
HEALTHCHECK --interval=10s --timeout=6s --start-period=5s CMD ["/usr/bin/reachd", "healthcheck"]
ENTRYPOINT ["/usr/bin/reachd"]
CMD ["serve"]
