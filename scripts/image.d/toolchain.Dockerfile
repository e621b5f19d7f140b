# Replaces the official Swift image: the packages that a toolchain needs. The toolchain itself is mounted during a
# build, because a copy would make an image of 4 GB.
FROM debian:bookworm-slim
ARG TOOLCHAIN
ENV PATH=${TOOLCHAIN}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    binutils gcc git libc6-dev libcurl4-openssl-dev libedit2 libncurses6 libpython3.11 libsqlite3-0 libstdc++-12-dev \
    libxml2 libz3-4 pkg-config tzdata zlib1g-dev \
 && rm -rf /var/lib/apt/lists/*
