# The menu. `make run` and `make test` install what is missing; the others expect it to be there.
.PHONY: run test build bench limits lint format setup clean

run: ## Build in release and start the demo
	@scripts/setup run
	swift build -c release --product fieldwork
	@exec .build/release/fieldwork demo $(ARGS)

# Tests that start programs and browsers run one at a time, each kind in a process of its own.
test: ## Run every test, the browser tests too
	@scripts/setup test
	swift build --build-tests
	swift test --skip-build --skip 'FieldworkCollectTests|EndToEndTests'
	swift test --skip-build --no-parallel --filter FieldworkCollectTests
	swift test --skip-build --no-parallel --filter EndToEndTests

build: ## Build in release
	swift build -c release --product fieldwork

bench: ## Measure against the floor and print ratios (see Benchmarks/README.md)
	@scripts/setup run
	swift build -c release --product fieldwork
	swift run -c release --package-path Benchmarks bench $(ARGS)

limits: ## Write the table of fieldwork limits anew
	python3 scripts/list-limits.py

lint: ## Check the formatting
	swift format lint --strict --parallel --recursive Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources

format: ## Format in place
	swift format --in-place --parallel --recursive Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources

setup:
	@scripts/setup test

clean:
	rm -rf .build Benchmarks/.build
