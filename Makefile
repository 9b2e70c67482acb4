# What a newcomer types: make demo, make test. CONTRIBUTING.md says when to use the others.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help demo test agreement fuzz exports examples checked walk threads memory kills build lint catalog samples picture bench gates clean prepare

# The same switch everywhere: a target may import only what Package.swift says it depends on.
SWIFT_FLAGS := --explicit-target-dependency-import-check error
SCENARIO := Scenarios/faults.yml
REPORTS := Reports
SAMPLE := Scenarios/mood-list.yml
PICTURE := Documentation/images/report.png

help:
	@echo 'make demo       build, run $(SCENARIO), leave its report under $(REPORTS)/'
	@echo 'make test       the whole test suite'
	@echo 'make agreement  20,000 random predicates in a file, in memory and in plain Swift: five minutes'
	@echo 'make fuzz       stores and models damaged at random, for fifteen minutes'
	@echo 'make exports    every scenario that can be exported: compiled as a program, run, judged by its log'
	@echo 'make examples   the package that uses the build plugin, and the sample app Moody with its tests'
	@echo 'make checked    the core under checked rows, the address and the thread sanitizer'
	@echo 'make walk       random walks beside plain dictionaries, 20 seeds of 10,000 steps on both stores'
	@echo 'make threads    eight contexts on one coordinator for five minutes, under the thread sanitizer'
	@echo 'make memory     a million objects fetched, read and dropped under a bound'
	@echo 'make kills      a process killed 200 times while it saves'
	@echo 'make build      release build of cdprof'
	@echo 'make lint       swift format lint --strict'
	@echo 'make catalog  which catalogd behaviors a scenario or a test covers'
	@echo 'make samples    the sample report in $(REPORTS)/samples again'
	@echo 'make picture    the picture in the README again, with Chromium'
	@echo 'make bench      the benchmark beside C and GRDB; BENCH="--only fetch" passes options on'
	@echo 'make gates      statements, rows, allocations, instructions against Benchmarks/gates.json'
	@echo 'make clean      remove what was built; reports stay'

prepare:
	@sh Scripts/prepare.sh

build: prepare
	swift build -c release --product cdprof $(SWIFT_FLAGS)

demo: build
	@sh Scripts/demo.sh '$(SCENARIO)' '$(REPORTS)'

test: prepare
	swift test --disable-xctest $(SWIFT_FLAGS)

# As many as a release should see; a run of the suite makes a tenth.
agreement: prepare
	CDPROF_AGREEMENT_ROUNDS=20000 swift test --disable-xctest $(SWIFT_FLAGS) --filter StoreAgreementTests

# SEED=100000 begins with another seed.
fuzz: prepare
	CDPROF_FUZZ_SECONDS=900 CDPROF_FUZZ_SEED=$(or $(SEED),1) \
	  swift test --disable-xctest $(SWIFT_FLAGS) --filter FuzzTests

exports: prepare
	CDPROF_EXPORTS=1 swift test --disable-xctest $(SWIFT_FLAGS) --filter ExportCommandTests

# Packages of their own: what a user of the framework and of the build plugin writes, and the book's sample app.
examples: prepare
	swift run --package-path Examples $(SWIFT_FLAGS) Library
	swift test --package-path Examples/Moody --disable-xctest $(SWIFT_FLAGS)

# Each in a folder of its own, so that neither build throws the other away.
CHECKED := swift test --disable-xctest $(SWIFT_FLAGS) --filter OpenCoreDataTests
checked: prepare
	LSAN_OPTIONS=suppressions=$(CURDIR)/Scripts/leaks.supp \
	  $(CHECKED) --scratch-path .build/address --sanitize=address -Xswiftc -DCHECKED_ROWS
	TSAN_OPTIONS=suppressions=$(CURDIR)/Scripts/threads.supp \
	  $(CHECKED) --scratch-path .build/thread --sanitize=thread -Xswiftc -DCHECKED_ROWS

# The long forms of what make test runs for seconds.
walk: prepare
	CDPROF_WALK_STEPS=10000 CDPROF_RANDOM_SEEDS=20 swift test --disable-xctest $(SWIFT_FLAGS) --filter RandomOperationTests

threads: prepare
	CDPROF_THREAD_SECONDS=300 TSAN_OPTIONS=suppressions=$(CURDIR)/Scripts/threads.supp \
	  swift test --disable-xctest $(SWIFT_FLAGS) --filter ConcurrentContextTests \
	  --scratch-path .build/thread --sanitize=thread -Xswiftc -DCHECKED_ROWS

memory: prepare
	CDPROF_MEMORY_OBJECTS=1000000 swift test --disable-xctest $(SWIFT_FLAGS) --filter MemoryTests

kills: prepare
	CDPROF_KILLS=200 swift test --disable-xctest $(SWIFT_FLAGS) --filter CrashTests

lint:
	@sh Scripts/prepare.sh --swift
	swift format lint --strict --recursive --parallel Package.swift Sources Tests \
	  Examples/Package.swift Examples/Sources Examples/Moody/Package.swift Examples/Moody/Sources \
	  Examples/Moody/Tests Benchmarks/Package.swift Benchmarks/Sources

samples: build
	@sh Scripts/samples.sh '$(SAMPLE)' '$(REPORTS)/samples'

picture: build
	@sh Scripts/picture.sh '$(SCENARIO)' '$(REPORTS)' '$(PICTURE)'

catalog:
	@sh Scripts/catalog.sh

# A package of its own: GRDB is nobody's dependency but the benchmark's.
bench: prepare
	swift run -c release --package-path Benchmarks bench $(BENCH)

gates: prepare
	swift build -c release --package-path Benchmarks
	Benchmarks/.build/release/bench gates

clean:
	rm -rf .build Benchmarks/.build Examples/.build Examples/Moody/.build
