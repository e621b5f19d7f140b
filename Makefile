# The targets. Each installs the Debian packages that it needs (with sudo if not root); no package is removed.
.PHONY: help run build install deb fleet test test-store test-fleet test-fleet-short check test-one test-page test-docs pictures lint docs lint-deploy image test-image test-machine test-package test-reproducible format fuzz soak test-long bench bench-page clean

# Warnings of this package are errors in builds by make and the scripts (Package.swift).
export REACHD_STRICT ?= 1

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' Makefile | expand -t 18

run: build ## build and serve, with the data directory .data; ARGS="--listen 0.0.0.0:8080" for options
	REACHD_DEFAULT_DATA=.data .build/release/reachd serve $(ARGS)

build: ## build the service
	scripts/setup
	scripts/dependencies
	REACHD_COMMIT=$$(git describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null) \
	  swift build -c release --product reachd --static-swift-stdlib

install: ## install the programs in .build/release with units, manual pages, completions and examples; DESTDIR=, PREFIX=/usr/local
	scripts/package.d/install .build/release

deb: ## packages of reachd and reachd-fleet for this release of Debian, in .build-deb
	scripts/setup scripts/packages.txt scripts/package.d/packages.txt
	scripts/dependencies
	scripts/package.d/deb

fleet: ## a fleet on this machine until Ctrl-C: nats-server, two agents with a cable, a replica; needs root or user namespaces
	scripts/setup scripts/packages.txt scripts/packages-test.txt
	scripts/dependencies
	swift build -c release --product reachd-fleet --static-swift-stdlib
	scripts/fleet

test-fleet: ## the fleet's agents with servers that are killed, wiped and stopped, fifty kills of an agent, and an independent client that recomputes every verdict
	scripts/setup scripts/packages.txt scripts/packages-test.txt
	REACHD_FLEET_KILLS=50 REACHD_FLEET_FAULTS=1 REACHD_FLEET_SEEDS=10000 scripts/test --filter FleetTests
	scripts/test-clients fleet fleetjwt

test-fleet-short: ## a kill of a server and a cut cable in a fleet with three servers (two minutes after the build)
	scripts/setup scripts/packages.txt scripts/packages-test.txt
	REACHD_FLEET_FAULTS=1 scripts/test --filter 'FleetTests.*(killsOfLeaders|partitionedAgent)'

test: ## all tests, and independent clients of the running service; some need root or user namespaces
	scripts/setup scripts/packages.txt scripts/packages-test.txt scripts/page.d/packages.txt
	scripts/dependencies
	scripts/test
	scripts/test-clients

test-store: ## the data directory with failing, full and waiting disks, and a hundred kills (about two minutes after the build)
	scripts/setup scripts/packages.txt scripts/packages-test.txt
	REACHD_STORE_KILLS=100 scripts/test --filter StoreTests

check: ## the tests that need no kernel, network or processes: values, rules, parsers, layers, the modules of the pages
	scripts/setup scripts/packages.txt scripts/page.d/packages.txt
	scripts/check

test-one: ## build and run one suite or test target; T=LongPollTests
	scripts/setup scripts/packages.txt scripts/packages-test.txt
	scripts/test-one $(T)

lint: ## check the format of all Swift files, and the scripts of the pages
	scripts/setup scripts/page.d/packages.txt
	swift format lint --strict --recursive Package.swift Sources Tests Benchmarks
	scripts/page.d/lint

pictures: ## take the README's pictures of the page, in docs/images (six minutes); needs root or user namespaces
	scripts/setup scripts/packages.txt scripts/packages-test.txt scripts/packages-browser.txt
	scripts/dependencies
	scripts/test-clients pictures

test-docs: ## the commands and tables of the documentation, and the Grafana dashboard (a minute); part of `make test`
	scripts/setup scripts/packages.txt scripts/packages-test.txt
	scripts/dependencies
	scripts/test-clients docs dashboard

docs: ## the documentation with search, and the API of the Swift libraries, in .build-docs/site; every warning is an error
	scripts/setup scripts/packages.txt scripts/packages-docs.txt
	scripts/dependencies
	scripts/docs

lint-deploy: ## check the Dockerfile, compose file, manifests, units, OpenAPI document and shell scripts
	scripts/setup scripts/packages.txt scripts/packages-image.txt
	scripts/lint-deploy

image: ## build reachd:dev, reachd:debug and reachd:fleet without a registry (docs/how-to/container.md); needs root
	scripts/setup scripts/packages.txt scripts/packages-image.txt
	scripts/image
	scripts/image debug
	scripts/image fleet

test-image: image ## test the image as Docker and Kubernetes run it, and with restricted privileges
	scripts/test-image

test-machine: ## the units and packages on bare machines of Debian 12 and 13, booted with systemd; SUITE=bookworm or CASE=unit for a part; needs root
	scripts/setup scripts/packages.txt scripts/machine.d/packages.txt
	scripts/dependencies
	scripts/machine $(if $(SUITE),--suite $(SUITE)) $(CASE)

test-package: ## what `make install` installs and the packages contain, with the debug build: completions, manual pages, lintian, contents
	scripts/setup scripts/packages.txt scripts/package.d/packages.txt scripts/package.d/packages-test.txt
	scripts/dependencies
	scripts/package.d/test

test-reproducible: ## build the packages twice, in another directory, as another user, with another locale and time zone, and compare them
	scripts/setup scripts/packages.txt scripts/package.d/packages.txt
	scripts/dependencies
	scripts/package.d/test-reproducible

format: ## format all Swift files
	swift format --in-place --recursive Package.swift Sources Tests Benchmarks

fuzz: ## fuzz the parsers of untrusted input, one minute per target; SECONDS=600 for longer
	scripts/setup scripts/packages.txt
	scripts/fuzz $(or $(SECONDS),60)

soak: build ## route flaps, 50 reconnecting readers and checks for 30 minutes; MINUTES=5 for less; needs root or user namespaces
	scripts/setup scripts/packages-test.txt
	MINUTES=$(or $(MINUTES),30) scripts/soak

test-long: ## long races, every test under the sanitizers, a browser's EventSource, TLS scanners (about 50 minutes)
	scripts/setup scripts/packages.txt scripts/packages-test.txt
	scripts/test-long

test-page: ## the status page and that of a replica in Chromium, with axe; screenshots in .build-screenshots (three minutes); needs root or user namespaces
	scripts/setup scripts/packages.txt scripts/packages-test.txt scripts/packages-browser.txt
	scripts/dependencies
	scripts/test-clients page fleetpage

bench-page: build ## measure the status page and reachd top: the bars of Benchmarks/RESULTS.md (six minutes); needs root or user namespaces
	scripts/setup scripts/packages-test.txt scripts/packages-browser.txt
	scripts/venv page
	Benchmarks/run page

bench: build ## measure the figures of Benchmarks/RESULTS.md on this machine
	scripts/setup scripts/packages.txt scripts/packages-test.txt Benchmarks/packages.txt
	Benchmarks/run

clean: ## remove all build products
	scripts/containers gone
	rm -rf .build .build-*
