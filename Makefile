# grposim: `make` says what there is.
GO ?= go

# On amd64: POPCNT and SSE4, which processors have had since 2009. Results are the same
# bytes at every level.
export GOAMD64 ?= v2

# The toolchain that go.mod names where it can be had, else the local one.
CURRENT := $(shell awk '$$1 == "toolchain" { print $$2 }' go.mod)
ifeq ($(origin GOTOOLCHAIN),undefined)
GOTOOLCHAIN := $(shell GOTOOLCHAIN=$(CURRENT) $(GO) version >/dev/null 2>&1 && echo $(CURRENT) || echo local)
endif
export GOTOOLCHAIN

# Vectors are an experiment of Go. It is asked for where the package of ours is: with Go 1.27 on amd64
# and arm64. Without them results are the same bytes, and take longer.
ifeq ($(origin GOEXPERIMENT),undefined)
GOEXPERIMENT := $(shell GOTOOLCHAIN=$(GOTOOLCHAIN) GOEXPERIMENT=simd $(GO) list simd >/dev/null 2>&1 && echo simd)
endif
export GOEXPERIMENT

# The programs of the makers are a module of their own. They are built into bin, and run from here.
TOOL = $(GO) build -C tools -trimpath -o ../bin/

.PHONY: help build guard sizes explorer reproduce calibrate mutants test small nightly test-long race test-slurm test-kills fuzz fuzz-theory lint bench site release foreign
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## bin/grposim
	$(GO) build -trimpath -o bin/grposim ./cmd/grposim

BASE ?= HEAD~1
ROUNDS ?= 1
ONLY ?=
guard: ## does the working tree give the bytes of commit BASE (HEAD~1), in at most 1.05 of its processor time? ROUNDS (1) of every experiment and prediction, or of those that ONLY matches
	@base=$$(mktemp -d) && trap 'rm -rf "$$base"' EXIT && trap 'exit 130' INT TERM && \
		git archive $(BASE) | tar -x -C "$$base" && $(TOOL) ./guard && bin/guard -rounds $(ROUNDS) -only "$(ONLY)" "$$base" .

sizes: ## lines of Go in each room and in all, KB of documents, long lines and words of a sentence, beside their limits
	@$(TOOL) ./sizes && bin/sizes .

explorer: ## results/local/explorer.html, the interactive page: one file that needs no network
	$(TOOL) ./explorer && cd tools && ../bin/explorer

reproduce: build ## run every experiment on the paper's claims; exit 0 when all verdicts agree
	bin/grposim reproduce

site: reproduce explorer ## the documents as pages, with the explorer and the report of the paper, into results/local/site; every link checked
	rm -rf results/local/site && mkdir -p results/local/help
	for topic in keys claims columns reasons log-keys; do bin/grposim help $$topic > results/local/help/$$topic.md; done
	$(TOOL) ./site && bin/site -o results/local/site

calibrate: ## how far verdicts can be trusted: 200 seeds of every claim, and every mistake
	$(TOOL) ./calibrate && bin/calibrate

mutants: ## plant small faults in the code, one by one: those of a table, and ten of each package from its syntax; lists which test fails, and survivors
	$(GO) test -C tools -tags long -count 1 -timeout 4h -parallel 2 ./mutants -run 'TestMutants$$|TestLongMutants' -v -sample 10

test: ## fast tests; says what they are built with
	@echo "tests by $$($(GO) env GOVERSION), built $(if $(GOEXPERIMENT),with vectors,without vectors)"
	$(GO) test -timeout 10m ./...
	$(GO) test -C tools -timeout 10m ./...

SMALL := paper/slow-start trainers/k1-in-loss way/wrong-answers deep/group-size
small: build ## four small experiments give the committed results to the byte
	@for e in $(SMALL); do rm -rf bin/small; \
		bin/grposim reproduce $${e#*/} --suite $${e%/*} --out bin/small >/dev/null 2>&1; \
		diff -r -x manifest.json -x '*.jsonl' -x '*.parquet' -x '*.png' -x report.html bin/small/$${e#*/} results/$$e || \
			{ echo "$$e: bin/small is not results/$$e"; exit 1; }; done

nightly: ## what takes longer than CI has: tests with the oldest toolchain and on other vectors, long tests, every suite, random configurations, error rates of verdicts, mutants, kills; hours
	GOTOOLCHAIN=local GOEXPERIMENT= $(MAKE) test
	for bits in 0 128 +256; do GODEBUG=simd=$$bits $(GO) test -count 1 ./sim || exit 1; done
	for system in darwin windows; do GOOS=$$system CGO_ENABLED=0 GOEXPERIMENT= $(GO) build -o /dev/null ./cmd/grposim || exit 1; done
	$(MAKE) test-long fuzz-theory calibrate mutants test-kills

# Folders of programs and sweeps that have long tests; the others would be linked for nothing. That
# of the commands takes longest and is first. Lint has vetted all with this tag.
LONG = ./cmd/grposim $(addprefix ./,$(filter-out cmd/grposim/,$(sort $(dir $(shell grep -lr --include=*_test.go '^//go:build long' cmd sweeps)))))
test-long: ## tests that take minutes (TestLong…): all of reproduce, close statistics, other systems and architectures, reports and the interactive page in a browser, suggestions of advice, a mutant of each package with a floor; every random case of fp, rom, sim, grpo, network and training
	@command -v qemu-aarch64 >/dev/null || { apt-get update && apt-get install -y qemu-user; } || \
		echo "without qemu-aarch64 (Debian: qemu-user) the arm64 test is skipped"
	@{ { command -v chromium >/dev/null || { apt-get update && apt-get install -y chromium; }; } && \
		npm install --prefix bin/browser --no-audit --no-fund playwright-core@1.65 axe-core@4.14 \
			hyparquet@1.33.0 @dsnp/parquetjs@1.8.8 @duckdb/node-api@1.5.6-r.1; } || \
		echo "without chromium, node and npm no page is tested in a browser"
	@{ command -v Rscript && command -v sqlite3; } >/dev/null || apt-get install -y --no-install-recommends r-base-core sqlite3 || \
		echo "without R and sqlite3 they read no results folder (READERS=all: a failure)"
	@{ $(GO) test -vet=off -timeout 60m -tags long ./fp ./rom/... ./sim/... ./grpo ./network ./training/... && $(RACE); } & rest=$$!; \
		export NODE_PATH=$(CURDIR)/bin/browser/node_modules:$$NODE_PATH; \
		$(GO) test -vet=off -timeout 60m -tags long -run '^TestLong' $(LONG) && \
		$(GO) test -C tools -vet=off -timeout 60m -tags long -run '^TestLong' ./... && wait $$rest

# Packages that start goroutines, and tests of them that do; none of more than seconds, because the
# race detector makes a program ten times as slow.
CONCURRENT := sim sim/probe sweeps sweeps/plan sweeps/advice cmd/grposim
RACED := TestWorkersDoNotMatter TestCellsBeforeDoNotMatter TestDivergence TestInterruptionOfProbes TestDoneFails TestPanickingCell \
	TestWaitForAFolder TestSameBytesForAnyWorkers \
	TestSeedsAreAnAxis TestInterruptedJudging TestMergedShardsAreTheSingleRun TestFigures \
	TestProgressOfParts TestWatchConfirms TestHeartbeat
RACE = if command -v $$($(GO) env CC) >/dev/null; then \
		$(GO) test -race -vet=off -run "^($$(echo $(RACED) | tr ' ' '|'))$$" $(addprefix ./,$(CONCURRENT)); \
		else echo "without a C compiler (Debian: gcc) nothing is tested for races"; fi
race: ## the race detector over what runs on several goroutines; needs a C compiler
	@$(RACE)

test-slurm: ## a sweep on a real Slurm of three nodes, started here as root, one of which is lost
	@{ command -v slurmctld && command -v slurmd && command -v munged; } >/dev/null || \
		{ apt-get update && apt-get install -y --no-install-recommends slurm-wlm munge; }
	$(GO) test -tags slurm -count 1 -timeout 10m ./cmd/grposim -run '^TestSlurm$$' -v

test-kills: ## 200 kills of sweeps, shards and a merge, and errors injected into system calls that write (strace); minutes
	$(GO) test -timeout 60m -tags kills -run '^Test(Kills|Errors)$$' ./cmd/grposim

FUZZED := sweeps/config:FuzzLoad sweeps/store:FuzzJournal rom:FuzzPredict training/diagnose:FuzzName training/fit:FuzzFit \
	$(addprefix training/logs:,FuzzRead FuzzEvents FuzzMLflow FuzzWandb) training/equivalence:FuzzReadScores
fuzz: ## every parser, the theory and the diagnostics on random inputs; a minute each
	@set -e; for f in $(FUZZED); do \
		$(GO) test ./$${f%:*} -run '^$$' -fuzz "^$${f#*:}\$$" -fuzztime 60s -fuzzminimizetime 1x; done

N ?= 1000
SEEDS ?= 1 2 3
fuzz-theory: ## judge N random configurations under each of SEEDS, theory against simulation; what disagrees into fuzz-found
	$(TOOL) ./fuzz
	@code=0; for seed in $(SEEDS); do bin/fuzz --n $(N) --seed $$seed --out fuzz-found || code=1; done; exit $$code

# The files without vectors are those of arm64, for which TestLongArchitectures compiles the same packages.
lint: ## gofmt, go vet, staticcheck (every package has a comment: ST1000)
	@test -z "$$(gofmt -l .)" || { echo "gofmt -l:"; gofmt -l .; exit 1; }
	$(GO) vet -tags long,slurm,kills ./...
	GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./grpo/... ./network/... ./rom/... ./sim/...
	$(GO) vet -C tools -tags long ./...
	$(GO) build -C tools -o ../bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck -checks inherit,ST1000 -tags long,slurm,kills ./...
	cd tools && ../bin/staticcheck -checks inherit,ST1000 -tags long ./...

bench: ## time a step at other group sizes, numbers of arms and of workers
	$(TOOL) ./bench && bin/bench

RELEASED := $(addprefix linux-,amd64 arm64) $(addprefix darwin-,amd64 arm64) $(addprefix windows-,amd64 arm64)
release: build ## archives of the program for Linux, macOS and Windows on amd64 and arm64, with checksums, into bin/release
	@rm -rf bin/release; mkdir -p bin/release
	@version=$$(bin/grposim --version | cut -d ' ' -f 3); for target in $(RELEASED); do \
		name=grposim-$$version-$$target; os=$${target%-*}; mkdir bin/release/$$name || exit 1; \
		GOOS=$$os GOARCH=$${target#*-} CGO_ENABLED=0 $(GO) build -trimpath -ldflags=-s -o bin/release/$$name/ ./cmd/grposim || exit 1; \
		cp README.md LICENSE docs/third-party.txt bin/release/$$name; \
		tar -czf bin/release/$$name.tar.gz --sort=name --owner=0 --group=0 --mtime=@0 -C bin/release $$name || exit 1; \
		rm -r bin/release/$$name; done; cd bin/release && sha256sum *.tar.gz > SHA256SUMS && cat SHA256SUMS

TINY_GRPO ?=
TRL ?=
NANOGPT ?=
foreign: ## thresholds of a nanoGPT that the losses of tiny-grpo and TRL train, located and predicted: NANOGPT, TINY_GRPO and TRL are checkouts, what is missing is skipped; needs PyTorch; minutes
	@/usr/bin/python3 -c 'import torch' 2>/dev/null || { echo "skipped: /usr/bin/python3 has no torch (Debian: python3-torch)"; exit 0; }; \
		/usr/bin/python3 tools/foreign.py --nanogpt "$(NANOGPT)" --tiny-grpo "$(TINY_GRPO)" --trl "$(TRL)"
