# The menu. `make run` and `make test` install what is missing; the others expect it to be there.
.PHONY: run test vendor build install package try-package documentation api-check api-record fuzz mutants empty-bodies check-tests simulate crash crash-servers bench bench-history bench-test bench-arcade fuzz-arcade tour examples limits lint format setup clean attack soak

# The program has the Swift libraries in it: it runs where no Swift is, and calls into them cost less.
RELEASE = swift build -c release --static-swift-stdlib --product

run: ## Build in release and start the demo
	@scripts/setup run
	$(RELEASE) fieldwork
	@exec .build/release/fieldwork demo $(ARGS)

# The tests as a program, which a second process can start while `swift test` holds the lock of the build.
BUNDLE = .build/debug/fieldworkPackageTests.xctest --testing-library swift-testing

# Tests that start programs and browsers run one at a time, each kind in a process of its own; so do those that wait until a
# request has met its limit, which tests beside them would hold up, and those that measure the memory of the process.
# The simulator needs the processor alone, and the app's tests mostly wait for a browser: they run side
# by side, the simulator with the lowest priority.
test: ## Run every test, the browser tests too
	@scripts/setup test
	swift build --build-tests
	swift test --skip-build --skip 'FieldworkTests\.|FieldworkCollectTests|EndToEndTests|SimulationTests|RequestLimitTests|RequestMemoryTests'
	swift test --skip-build --no-parallel --filter 'RequestLimitTests|RequestMemoryTests'
	swift test --skip-build --filter 'FieldworkTests\.'
	scripts/beside $(BUNDLE) --filter SimulationTests -- swift test --skip-build --no-parallel --filter FieldworkCollectTests
	swift test --skip-build --no-parallel --filter EndToEndTests

vendor: ## Install the vendor's Python client and QGIS, and run the tests that work with them on servers with people
	@scripts/setup vendor
	swift build --build-tests
	swift test --skip-build --no-parallel --filter 'VendorPortalTests|QGISTests'

# The commit stands in `fieldwork --version`.
COMMIT = $(shell git describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null)

build: ## Build in release
	@scripts/setup run
	FIELDWORK_COMMIT=$(COMMIT) $(RELEASE) fieldwork

# The program with its libraries, resources, pages of the manual and completion: PREFIX, and DESTDIR for those who pack it.
PREFIX ?= /usr/local

install: build ## Install under PREFIX (/usr/local)
	scripts/stage "$(DESTDIR)/" "$(PREFIX)"

package: build ## Make a .deb and a tar (.build/packages)
	scripts/package

try-package: ## Install the .deb on a bare Debian, and use it there (root, network, mmdebstrap)
	scripts/try-package

documentation: ## Make pages of the SDK's documentation (.build/documentation)
	@scripts/setup run
	swift build --product fieldwork
	scripts/documentation

# A test does the same with the build of the tests.
api-check: ## Compare the SDK's public names with the promised ones (Documentation/api): what would break programs fails
	swift build --product fieldwork
	scripts/api-check

api-record: ## Record the SDK's public names as they are now: at a release, or for a break that CHANGELOG.md names
	swift build --product fieldwork
	scripts/api-check --write

# Each reader runs in a process of its own: a crash tells which one, and the seed repeats it.
FUZZ_INPUTS ?= 10000000
FUZZ_READERS ?= condition geoServicesJSON geoJSON wellKnownBinary geoPackageBinary wellKnownText multipart protocolBuffer form

fuzz: ## Feed each reader of foreign input ten million mutated ones (FUZZ_INPUTS, FUZZ_READERS, FIELDWORK_FUZZ_SEED)
	swift build --build-tests
	@for reader in $(FUZZ_READERS); do \
	  FIELDWORK_FUZZ_INPUTS=$(FUZZ_INPUTS) FIELDWORK_FUZZ_READER=$$reader \
	    nice swift test --skip-build --filter 'FuzzTests.mutations' || exit 1; \
	done

# Each fault stands alone: the build has them all, and a variable says which one is on.
mutants: ## Put small faults into a copy, one at a time, and see which of them no test notices (ARGS="--only 10-20 --all")
	@scripts/setup test
	python3 Tests/Mutants/mutants.py $(ARGS)

# The functions are chosen at random: another SEED chooses others. One build serves all of them.
COUNT ?= 40
SEED ?= 1

empty-bodies: ## Empty the bodies of functions chosen at random, and see which of them no test misses (COUNT, SEED)
	@scripts/setup test
	python3 Tests/Mutants/empty-bodies.py --count $(COUNT) --seed $(SEED) --into .build/empty-bodies
	python3 Tests/Mutants/mutants.py --patches .build/empty-bodies --results .build/empty-bodies/results.json $(ARGS)

check-tests: ## Look for mutants that no longer fit the sources, and for tests that could not fail (seconds)
	python3 Tests/Mutants/mutants.py --check
	python3 Tests/Mutants/idle-tests.py

# Each seed is a story of its own: a failing one prints the command that tells it again.
SIMULATION_SEEDS ?= 10000

simulate: ## Tell ten thousand stories of crews, a bad network and crashes (SIMULATION_SEEDS)
	swift build --build-tests
	FIELDWORK_SIMULATION_SEEDS=$(SIMULATION_SEEDS) nice swift test --skip-build --filter SimulationTests.convergence

# The processes are real, and so is the signal.
ROUNDS ?= 300
SERVER_ROUNDS ?= 100

crash: ## Kill servers, syncs and downloads and updates of maps in the midst of their work, three hundred times (ROUNDS)
	swift build --build-tests
	FIELDWORK_SYNC_CRASH_ROUNDS=$(ROUNDS) nice swift test --skip-build --no-parallel --filter SyncCrashTests
	FIELDWORK_MAP_CRASH_ROUNDS=$(ROUNDS) nice swift test --skip-build --no-parallel --filter MapCrashTests

crash-servers: ## Kill servers of one database, its primary and its standby in the midst of edits, uploads and jobs (SERVER_ROUNDS)
	swift build --build-tests
	FIELDWORK_SERVERS_CRASH_ROUNDS=$(SERVER_ROUNDS) nice swift test --skip-build --no-parallel --filter ThreeServersTests

# Each prints its figures. FIELDWORK_ATTACK_SEED makes other requests; one that fails is named with the words that repeat it.
# The servers are the release: times and memory of a debug build say nothing about what users get.
attack: export FIELDWORK_EXECUTABLE = $(CURDIR)/.build/release/fieldwork
attack: build ## Attack servers from outside: 200,000 requests, hostile HTTP, a long load, kills, full disks and bad lines, on both stores
	swift build --build-tests
	FIELDWORK_ATTACK=full nice swift test --skip-build --no-parallel --filter EndToEndTests.Attack
	FIELDWORK_ATTACK=full nice swift test --skip-build --no-parallel --filter 'RequestLimitTests|RequestMemoryTests'
	FIELDWORK_FULL_DISK=full nice swift test --skip-build --no-parallel --filter EndToEndTests.FullDiskTests
	FIELDWORK_BAD_LINE=full nice swift test --skip-build --no-parallel --filter EndToEndTests.BadLineTests
	FIELDWORK_CRASH_ROUNDS=$(ROUNDS) nice swift test --skip-build --no-parallel --filter EndToEndTests.CrashTests
	$(MAKE) crash
	$(MAKE) crash-servers
	$(MAKE) simulate

soak: MINUTES ?= 480
soak: export FIELDWORK_EXECUTABLE = $(CURDIR)/.build/release/fieldwork
soak: build ## Load a server of each store for MINUTES (eight hours) and print its memory minute by minute; more than a tenth more at the end fails
	swift build --build-tests
	FIELDWORK_SOAK_MINUTES=$(MINUTES) swift test --skip-build --no-parallel --filter AttackSoakTests/hours

bench: ## Measure against the floor and print ratios (see Benchmarks/README.md)
	@scripts/setup run
	$(RELEASE) fieldwork
	$(RELEASE) bench-sdk
	swift run -c release --package-path Benchmarks bench $(ARGS)

bench-history: ## Print what was recorded of a figure, as a table (FIGURE; without it the names of all)
	@swift run -c release --package-path Benchmarks bench history $(FIGURE)

bench-test: ## Test what compares results of `make bench` (seconds; make test leaves it out)
	swift test --package-path Benchmarks

bench-arcade: ## Measure expressions: features a second, a form, reading scripts
	$(RELEASE) bench-arcade
	.build/release/bench-arcade

fuzz-arcade: ## Run ten million mutated expressions (FIELDWORK_ARCADE_FUZZ)
	swift build --build-tests
	FIELDWORK_ARCADE_FUZZ=$${FIELDWORK_ARCADE_FUZZ:-10000000} nice swift test --skip-build --filter FieldworkArcadeTests.FuzzTests

tour: ## Make the pictures of Documentation/tour.md anew
	@scripts/setup test
	swift build --product fieldwork
	python3 scripts/make-tour.py

examples: ## Build the sample programs
	@for program in ReadMap EditReports InspectTree KeepPhoto Selections Starter; do swift build --product $$program || exit 1; done

limits: ## Write the table of fieldwork limits anew
	python3 scripts/list-limits.py

lint: ## Check the formatting
	swift format lint --strict --parallel --recursive Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources Benchmarks/Tests Examples

format: ## Format in place
	swift format --in-place --parallel --recursive Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources Benchmarks/Tests Examples

setup:
	@scripts/setup test

clean:
	rm -rf .build Benchmarks/.build
