# Start here: make demo, make test. CONTRIBUTING.md explains when to use the others.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help demo docs test build-tests agreement fuzz corrupt faults exports examples server observability postgres postgres-bench fleet checked walk threads memory kills build lint catalog samples picture bench gates clean prepare products install uninstall dist

# A target may import only what Package.swift says it depends on. Builds of tests check that.
SWIFT_FLAGS := --explicit-target-dependency-import-check error
# Without debug information, a release build takes less time. A backtrace still contains the names of functions.
RELEASE_FLAGS := -c release -debug-info-format none
SCENARIO := Scenarios/faults.yml
REPORTS := Reports
SAMPLE := Scenarios/mood-list.yml
PICTURE := Documentation/images/report.png
PREFIX := /usr/local
DESTDIR :=

help:
	@echo 'make demo       build, run $(SCENARIO), and leave its report in $(REPORTS)/'
	@echo 'make test       run all tests'
	@echo 'make agreement  compare 20,000 random predicates in a store, in memory, and in plain Swift; five minutes'
	@echo 'make fuzz       read random inputs of eleven kinds with libFuzzer, ten minutes each'
	@echo 'make corrupt    read randomly corrupted stores and models for fifteen minutes'
	@echo 'make faults     fail file operations, statements, and allocations of everything that writes; LONG=1: each one'
	@echo 'make exports    compile and run every scenario as a Swift program, and check its log'
	@echo 'make examples   build and run the example packages, and test the sample app Moody'
	@echo 'make server     build the server of the sample app, and test it with two clients'
	@echo 'make observability  build the package for traces, metrics, and logs, and its example, and test both'
	@echo 'make postgres   build the PostgreSQL store, and test it with a server in a temporary folder'
	@echo 'make postgres-bench  compare the PostgreSQL store with a C program on libpq'
	@echo 'make fleet      load 1,000 logs into DuckDB and PostgreSQL, and compare the answers of both; needs Python and a network'
	@echo 'make checked    test the core with checked rows, the address sanitizer, and the thread sanitizer'
	@echo 'make walk       compare random operations with plain dictionaries: 20 seeds of 10,000 steps'
	@echo 'make threads    run contexts on eight threads and in two processes under the thread sanitizer for five minutes, and test Moody'
	@echo 'make memory     fetch, read, release, and migrate a million objects within memory limits'
	@echo 'make kills      kill 200 processes each while they save, migrate, and change stores with others; KILLS=1000'
	@echo 'make build      build cdprof for release'
	@echo 'make install    build for release, and install below PREFIX=/usr/local; DESTDIR= comes before it'
	@echo 'make uninstall  remove what make install installed below PREFIX'
	@echo 'make dist       build for release, and write an archive and its SHA-256 to .build/dist'
	@echo 'make lint       run swift format lint --strict'
	@echo 'make catalog    list the behaviors of the catalog that a scenario or a test covers'
	@echo 'make docs       build the documentation of OpenCoreData in .build/docs with DocC'
	@echo 'make samples    regenerate the sample report in $(REPORTS)/samples'
	@echo 'make picture    regenerate the picture in the README with Chromium'
	@echo 'make bench      compare with C and GRDB; BENCH="--only fetch" passes options on'
	@echo 'make gates      compare statements, rows, allocations, and instructions with Benchmarks/baselines.json'
	@echo 'make clean      remove build products; reports stay'

prepare:
	@sh Scripts/prepare.sh

build: prepare
	swift build --product cdprof $(RELEASE_FLAGS)

# The program and the tool that writes its man pages.
products: build
	swift build --product ManualTool $(RELEASE_FLAGS)

install: products
	@sh Scripts/install.sh "$$(swift build -c release --show-bin-path)" '$(PREFIX)' '$(DESTDIR)'

uninstall:
	@sh Scripts/install.sh --remove '$(PREFIX)' '$(DESTDIR)'

dist: products
	@sh Scripts/dist.sh "$$(swift build -c release --show-bin-path)" .build/dist

demo: build
	@sh Scripts/demo.sh '$(SCENARIO)' '$(REPORTS)'

test: prepare
	swift test --disable-xctest $(SWIFT_FLAGS)

build-tests: prepare
	swift build --build-tests $(SWIFT_FLAGS)

# As many as a release should see; `make test` runs a twentieth.
agreement: prepare
	CDPROF_AGREEMENT_ROUNDS=20000 swift test --disable-xctest $(SWIFT_FLAGS) --filter StoreAgreementTests

# SECONDS=3600 reads inputs of each target for an hour instead of ten minutes; TARGETS="log store" chooses the targets.
fuzz: prepare
	@sh Scripts/fuzz.sh '$(or $(SECONDS),600)' $(TARGETS)

# SEED=100000 begins with another seed.
corrupt: prepare
	CDPROF_FUZZ_SECONDS=900 CDPROF_FUZZ_SEED=$(or $(SEED),1) \
	  swift test --disable-xctest $(SWIFT_FLAGS) --filter FuzzTests

# LONG=1 fails each file operation and statement instead of a sample of 12 for each cause, and every 20th of SQLite's
# 200,000 allocations, of which START=1 to 20 is the first. STEP=1 fails each one. Both take hours.
faults: prepare
	@sh Scripts/faults.sh '$(LONG)' '$(or $(START),1)' '$(or $(STEP),20)' $(SWIFT_FLAGS)

exports: prepare
	CDPROF_EXPORTS=1 swift test --disable-xctest $(SWIFT_FLAGS) --filter ExportCommandTests

# Separate packages: what a user of the framework and of the build plugin writes, and the book's sample app. They share
# the package's scratch folder, so that what make test has compiled isn't compiled again. SwiftPM would also reuse the
# plan of the package that was tested there before.
EXAMPLE_FLAGS := --scratch-path .build --disable-build-manifest-caching $(SWIFT_FLAGS)
examples: prepare
	swift run --package-path Examples --scratch-path .build $(SWIFT_FLAGS) Library
	swift test --package-path Examples/Moody --disable-xctest $(EXAMPLE_FLAGS)

# The sample's server, with an HTTP server that nothing else depends on.
server: prepare
	swift test --package-path Examples/MoodyServer --disable-xctest $(EXAMPLE_FLAGS)

# Traces, metrics, and logs of a server, whose packages nothing else depends on.
observability: prepare
	swift test --package-path Integrations/Observability --disable-xctest $(EXAMPLE_FLAGS)
	swift test --package-path Integrations/Observability/Examples/MoodService --disable-xctest $(EXAMPLE_FLAGS)

# The store in PostgreSQL requires a server, which CI doesn't have.
postgres: prepare
	sh Integrations/PostgresStore/test.sh

postgres-bench: prepare
	sh Integrations/PostgresStore/bench.sh

# Requires a PostgreSQL server, too, and DuckDB, which comes from PyPI.
fleet: build
	sh Integrations/Fleet/test.sh "$$(swift build -c release --show-bin-path)/cdprof"

# Each in a separate folder, so that neither build invalidates the other.
CHECKED := swift test --disable-xctest $(SWIFT_FLAGS) --filter OpenCoreDataTests
checked: prepare
	LSAN_OPTIONS="suppressions='$(CURDIR)/Scripts/leaks.supp'" \
	  $(CHECKED) --scratch-path .build/address --sanitize=address -Xswiftc -DCHECKED_ROWS
	TSAN_OPTIONS="suppressions='$(CURDIR)/Scripts/threads.supp'" \
	  $(CHECKED) --scratch-path .build/thread --sanitize=thread -Xswiftc -DCHECKED_ROWS

# The long forms of what make test runs for seconds.
walk: prepare
	CDPROF_WALK_STEPS=10000 CDPROF_RANDOM_SEEDS=20 swift test --disable-xctest $(SWIFT_FLAGS) --filter RandomOperationTests

# SECONDS=3600 runs the contexts for an hour.
threads: prepare
	CDPROF_THREAD_SECONDS=$(or $(SECONDS),300) TSAN_OPTIONS="suppressions='$(CURDIR)/Scripts/threads.supp'" \
	  swift test --disable-xctest $(SWIFT_FLAGS) --filter 'ConcurrentContextTests|CommitHistoryTests' \
	  --scratch-path .build/thread --sanitize=thread -Xswiftc -DCHECKED_ROWS
	TSAN_OPTIONS="suppressions='$(CURDIR)/Scripts/threads.supp'" \
	  swift test --package-path Examples/Moody --disable-xctest $(SWIFT_FLAGS) --disable-build-manifest-caching \
	  --scratch-path .build/thread --sanitize=thread -Xswiftc -DCHECKED_ROWS

memory: prepare
	CDPROF_MEMORY_OBJECTS=1000000 swift test --disable-xctest $(SWIFT_FLAGS) --filter MemoryTests

kills: prepare
	CDPROF_KILLS=$(or $(KILLS),200) swift test --disable-xctest $(SWIFT_FLAGS) \
	  --filter 'CrashTests|KilledWritersTests'

lint:
	@sh Scripts/prepare.sh --swift
	swift format lint --strict --recursive --parallel Package.swift Sources Tests \
	  Examples/Package.swift Examples/Sources Examples/Moody/Package.swift Examples/Moody/Sources \
	  Examples/Moody/Tests Examples/MoodyServer/Package.swift Examples/MoodyServer/Sources \
	  Examples/MoodyServer/Tests Benchmarks/Package.swift Benchmarks/Sources \
	  Integrations/PostgresStore/Package.swift Integrations/PostgresStore/Sources Integrations/PostgresStore/Tests \
	  Integrations/Observability/Package.swift Integrations/Observability/Sources Integrations/Observability/Tests \
	  Integrations/Observability/Examples/MoodService/Package.swift \
	  Integrations/Observability/Examples/MoodService/Sources Integrations/Observability/Examples/MoodService/Tests

# Each warning is an error: links without a target, parameters without a description.
DOCS := .build/docs
docs: prepare
	CDPROF_DOCS=1 swift package --allow-writing-to-directory $(DOCS) generate-documentation \
	  --target OpenCoreData --target ManagedModel --enable-experimental-combined-documentation \
	  --warnings-as-errors --output-path $(DOCS)
	@echo 'Show it with: python3 -m http.server --directory $(DOCS), then open /documentation/opencoredata'

samples: build
	@sh Scripts/samples.sh '$(SAMPLE)' '$(REPORTS)/samples'

picture: build
	@sh Scripts/picture.sh '$(SCENARIO)' '$(REPORTS)' '$(PICTURE)'

catalog:
	@sh Scripts/catalog.sh

# A separate package, because only the benchmark depends on GRDB.
bench: prepare
	swift run -c release --package-path Benchmarks bench $(BENCH)

# Neither GRDB nor the workbench's rows have gates. Without them, most modules aren't compiled.
gates: prepare
	swift build -c release --package-path Benchmarks --disable-default-traits
	Benchmarks/.build/release/bench gates

clean:
	rm -rf .build Benchmarks/.build
