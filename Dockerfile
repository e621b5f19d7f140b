# syntax=docker/dockerfile:1
# Three images from one build: `docker build .` makes one from scratch with the service only; `--target debug` adds a shell,
# `--target fleet` the agents and replicas of a fleet.
ARG SWIFT_IMAGE=swift:6.3-bookworm

# A libcurl for HTTP only: Debian's build would add LDAP, Kerberos, SSH and a second TLS library to the image.
FROM debian:bookworm-slim AS curl
WORKDIR /source
COPY scripts/image.d/slim-curl scripts/image.d/
RUN scripts/image.d/slim-curl /curl

FROM ${SWIFT_IMAGE} AS build
WORKDIR /source
COPY scripts/setup scripts/packages.txt scripts/
COPY scripts/setup.d scripts/setup.d
# The libcurl of the stage above uses GnuTLS, that of the Swift image does not; scripts/setup does not replace packages.
# The upgrade installs security fixes that are newer than the base image, because its libraries are copied into the final
# image. /data becomes the data directory of each image: an empty directory, whose owner only COPY --chown sets, and only
# if no earlier COPY has made it.
RUN apt-get update && apt-get install -y --no-install-recommends libcurl4-gnutls-dev python3 && scripts/setup \
 && apt-get upgrade -y && rm -rf /var/lib/apt/lists/* && mkdir /data
COPY --from=curl /curl /curl
COPY . .
ARG REVISION=unknown
RUN --mount=type=cache,target=/source/.build,sharing=locked \
    scripts/dependencies && REACHD_COMMIT=${REVISION} scripts/package.d/build .build reachd \
 && cp -P /curl/* "/usr/lib/$(uname -m)-linux-gnu/" && scripts/image.d/closure .build reachd /image

FROM debian:bookworm-slim AS debug
ARG REVISION=unknown
LABEL org.opencontainers.image.title="reachd (debug)" \
      org.opencontainers.image.description="reachd with a shell" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.1" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /image/usr /usr
COPY --from=build /image/etc/ssl /etc/ssl
COPY --from=build /image/var/lib/dpkg/status.d /var/lib/dpkg/status.d
COPY --from=build --chown=65532:65532 /data /var/lib/reachd
USER 65532:65532
EXPOSE 8080
ENV REACHD_DEFAULT_LISTEN="[::]:8080" REACHD_DEFAULT_DATA=/var/lib/reachd
VOLUME /var/lib/reachd
HEALTHCHECK --interval=10s --timeout=6s --start-period=5s CMD ["/usr/bin/reachd", "healthcheck"]
ENTRYPOINT ["/usr/bin/reachd"]
CMD ["serve"]

FROM build AS fleet-build
ARG REVISION=unknown
RUN --mount=type=cache,target=/source/.build,sharing=locked \
    REACHD_COMMIT=${REVISION} scripts/package.d/build .build reachd-fleet && scripts/image.d/closure .build reachd-fleet /image

FROM scratch AS fleet
ARG REVISION=unknown
LABEL org.opencontainers.image.title="reachd-fleet" \
      org.opencontainers.image.description="Agents and replicas of a fleet of machines" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.1" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=fleet-build /image /
COPY --from=build --chown=65532:65532 /data /var/lib/reachd
USER 65532:65532
EXPOSE 8080
ENV REACHD_DEFAULT_LISTEN="[::]:8080" REACHD_DEFAULT_DATA=/var/lib/reachd
VOLUME /var/lib/reachd
# The image contains reachd, too, for this command.
HEALTHCHECK --interval=10s --timeout=6s --start-period=5s CMD ["/usr/bin/reachd", "healthcheck"]
ENTRYPOINT ["/usr/bin/reachd-fleet"]
CMD ["agent"]

FROM scratch
ARG REVISION=unknown
LABEL org.opencontainers.image.title="reachd" \
      org.opencontainers.image.description="Reports from the kernel whether this machine is reachable, and every change" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.1" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /image /
COPY --from=build --chown=65532:65532 /data /var/lib/reachd
USER 65532:65532
EXPOSE 8080
ENV REACHD_DEFAULT_LISTEN="[::]:8080" REACHD_DEFAULT_DATA=/var/lib/reachd
VOLUME /var/lib/reachd
HEALTHCHECK --interval=10s --timeout=6s --start-period=5s CMD ["/usr/bin/reachd", "healthcheck"]
ENTRYPOINT ["/usr/bin/reachd"]
CMD ["serve"]
