# strata. Whatever a target needs it installs (Debian's packages, scripts/deps), fetches (npm's) and builds by itself.
#
#   make            build/strata, and build/strata-cluster, which it runs for agent, select and push
#   make demo       records a training job that is slower than it need be, and shows why
#   make test       all tests, in some seventeen minutes on two CPUs
#   make soak       what takes hours: fuzzing from random seeds, the tests again and again under load; SOAK_ROUNDS=3,
#                   SOAK_PARTS="asan fuzz": see tests/soak
#   make bench      measures what the README claims
#   make deps       what building and recording need, and DuckDB for `strata sql`
#   make lint       clang-tidy, cppcheck and gcc's analyzer over src; part of make soak
#   make install    to PREFIX, with man pages; make clean; make format; make docs
#
# Quiet; V=1 shows commands. SAN=address,undefined builds with sanitizers (into build/ too: run make clean between).

VERSION := 0.1.0
B       := build
PREFIX  ?= /usr/local
CC      ?= gcc
CLANG   ?= clang
BPFTOOL ?= $(firstword $(shell command -v bpftool) /usr/sbin/bpftool)
Q       := $(if $(V),,@)
# Debian's folder for headers of this architecture, whichever compiler.
MULTIARCH := $(shell uname -m)-linux-gnu
say      = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))

WARN     := -Wall -Wextra -Wshadow -Wmissing-prototypes -Werror
PAGE     := $(B)/gen/page.html
CPPFLAGS := -Isrc -I$(B) -D_GNU_SOURCE -DPAGE_FILE='"$(PAGE)"' -DINJECT_FOLDER='"$(B)/inject"' -DSTRATA_VERSION='"$(VERSION)"' \
	-DSTRATA_LIBEXEC='"$(PREFIX)/libexec/strata"'
CFLAGS   ?= -O2 -g
# strata runs with rights over the whole machine and reads files of strangers. The sanitizers check more than FORTIFY does, and
# do not go with it.
HARDEN   := -fstack-protector-strong -fPIE $(if $(SAN),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
LINKED   := -pie -Wl,-z,relro,-z,now,-z,noexecstack
ALL_CFLAGS = -std=gnu11 $(WARN) $(HARDEN) $(CFLAGS) $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer) -pthread
# The recorder is copied to other machines as one file, so its libraries are linked in.
LIBS     := -Wl,-Bstatic -lbpf -lelf -lz -lzstd -lxxhash -ljson-c -ledit -ltinfo -lbsd -lmd -Wl,-Bdynamic -lm -pthread
# Of the recorder, in which libbpf reads the kernel's types through src/probes/kernel_btf.c, and those of modules through module_types.c.
REC_LIBS := -Wl,--wrap=btf__load_vmlinux_btf,--wrap=btf__free,--wrap=bpf_btf_get_next_id $(LIBS)
LIB_LIBS := -lelf -lz -lzstd -lxxhash -ljson-c -lm

LIB_SRC  := $(sort $(wildcard src/base/*.c src/schema/schema.c src/schema/shown.c src/schema/syscalls.c src/store/*.c src/analyze/*.c src/query/*.c src/render/*.c src/symbols/*.c src/inject/*.c))
LIB_SRC  += src/sampler/proc_cpu.c src/sampler/proc_disk.c
REC_SRC  := $(filter-out $(LIB_SRC),$(sort $(wildcard src/capture/*.c src/probes/*.c src/sampler/*.c)))
LIVE_SRC := $(sort $(wildcard src/live/*.c))
# The commands of many machines are a program of their own, which needs SQLite, libmicrohttpd and libcurl of the system.
CLUSTER_SRC := $(sort $(wildcard src/cluster/*.c src/cluster/*/*.c))
CLUSTER_LIBS := -lsqlite3 -lmicrohttpd -lcurl
CMD_SRC  := $(sort $(wildcard src/cmd/*.c)) src/main.c
BPF_SRC  := $(sort $(wildcard src/bpf/*.bpf.c))
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
WORK_SRC := $(sort $(wildcard tests/workloads/*.c))
STANDIN  := $(addprefix $(B)/standin/,libnvidia-ml.so.1 libcupti.so.13 cuda_job nvtx_job)
MAN_SRC  := $(sort $(wildcard man/*.scd))

obj       = $(patsubst %.c,$(B)/%.o,$(1))
LIB_OBJ  := $(call obj,$(LIB_SRC))
REC_OBJ  := $(call obj,$(REC_SRC))
CMD_OBJ  := $(call obj,$(CMD_SRC))
LIVE_OBJ := $(call obj,$(LIVE_SRC))
CLUSTER_OBJ := $(call obj,$(CLUSTER_SRC))
UNIT     := $(patsubst tests/unit/%.c,$(B)/unit/%,$(UNIT_SRC))
SAN_UNIT := $(patsubst tests/unit/%.c,$(B)/san/unit/%,$(UNIT_SRC))
WORK     := $(patsubst tests/workloads/%.c,$(B)/workloads/%,$(WORK_SRC)) $(patsubst tests/workloads/%.cc,$(B)/workloads/%,$(wildcard tests/workloads/*.cc))
# Pages about commands have sources of their own; those about the file and its tables are the documents of docs/.
MAN      := $(patsubst man/%.scd,$(B)/man/%,$(MAN_SRC)) $(B)/man/strata-format.5 $(B)/man/strata-tables.5
SKEL     := $(patsubst src/bpf/%.bpf.c,$(B)/bpf/%.skel.h,$(BPF_SRC))

.PHONY: all deps demo test-deps test soak bench install clean format check-format docs
.DELETE_ON_ERROR:
.SECONDARY:

all: $(B)/strata $(B)/strata-cluster

# The packages of each group are installed before make looks at a single source file; then it builds on all CPUs.
PARALLEL = --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

deps:
	$(Q)scripts/deps build demo
	$(Q)scripts/fetch-duckdb $(B)

demo: deps
	$(Q)$(MAKE) $(PARALLEL) all
	$(Q)scripts/demo

test-deps: deps
	$(Q)scripts/deps test
	$(Q)scripts/fetch-web $(B)/npm

test: test-deps
	$(Q)$(MAKE) $(PARALLEL) all tests-built
	$(Q)tests/run-suites

soak: test-deps lint
	$(Q)$(MAKE) $(PARALLEL) all tests-built soak-built
	$(Q)tests/soak $(SOAK_PARTS)

# ---- what reads the code ----
#
# Each of these finds nothing, and is left to find something. What is switched off, and why:
#   clang-tidy  Checks of taste: strcmp() as a truth value, sizeof of a pointer in an array of pointers, names that are alike.
#               What wants functions that glibc has not (Annex K). Null pointers: it sees one file at a time and takes error_set(),
#               which returns the error that it is given, for one that may return 0; the fuzzers and ASan look for those.
#               Leaks: it finds them only in the skeletons that bpftool writes; LeakSanitizer looks for ours.
#   cppcheck    Style. Null pointers and uninitialized variables, for the same reason as above; the distance of two symbols of
#               the linker (page_html.c). Macros of libbpf that it has not seen (LIBBPF_OPTS), memory that a function it does not
#               look into fills (plan_tree.c), a condition that a call in between changes (perfetto_tracks.c), and
#               the arithmetic shift of zigzag numbers, which gcc and clang define.
#   -fanalyzer  gcc 12 loses sight of memory that a container keeps: leaks, null pointers and uninitialized values are off.
TIDY_OFF := bugprone-easily-swappable-parameters bugprone-branch-clone bugprone-reserved-identifier bugprone-macro-parentheses \
	bugprone-narrowing-conversions bugprone-implicit-widening-of-multiplication-result bugprone-assignment-in-if-condition \
	bugprone-suspicious-string-compare bugprone-not-null-terminated-result bugprone-sizeof-expression \
	clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling clang-analyzer-security.insecureAPI.strcpy \
	clang-analyzer-core.NullDereference clang-analyzer-core.NonNullParamChecker clang-analyzer-core.CallAndMessage \
	clang-analyzer-optin.portability.UnixAPI clang-analyzer-unix.Malloc
EMPTY       :=
COMMA       := ,
TIDY_CHECKS := $(subst $(EMPTY) $(EMPTY),$(COMMA),-* clang-analyzer-* bugprone-* $(addprefix -,$(TIDY_OFF)))
GCC_OFF     := -Wno-analyzer-malloc-leak -Wno-analyzer-use-of-uninitialized-value -Wno-analyzer-null-dereference \
	-Wno-analyzer-null-argument
CPPCHECK_OFF := missingInclude unmatchedSuppression nullPointer legacyUninitvar uninitdata comparePointers unknownMacro \
	shiftTooManyBitsSigned identicalInnerCondition
LINT_SRC    := $(LIB_SRC) $(REC_SRC) $(LIVE_SRC) $(CMD_SRC) $(CLUSTER_SRC)
LINT        := $(patsubst %.c,$(B)/lint/%.ok,$(LINT_SRC))

.PHONY: lint
lint:
	$(Q)scripts/deps build lint
	$(Q)$(MAKE) $(PARALLEL) linted

.PHONY: linted
linted: $(LINT) $(B)/lint/cppcheck.ok

$(B)/lint/%.ok: %.c | $(SKEL) $(B)/gen/syscall_numbers.h $(PAGE)
	$(call say,LINT,$<)
	$(Q)mkdir -p $(@D)
	$(Q)clang-tidy --quiet --warnings-as-errors='*' --checks='$(TIDY_CHECKS)' $< -- -std=gnu11 $(CPPFLAGS) 2> $@.log || \
		{ cat $@.log >&2; false; }
	$(Q)$(CC) -fanalyzer $(GCC_OFF) $(ALL_CFLAGS) -O1 -U_FORTIFY_SOURCE \
		$(CPPFLAGS) -S -o /dev/null $<
	$(Q)touch $@

$(B)/lint/cppcheck.ok: $(LINT_SRC)
	$(call say,LINT,cppcheck)
	$(Q)mkdir -p $(@D)
	$(Q)cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 -j2 \
		$(addprefix --suppress=,$(CPPCHECK_OFF)) -Isrc -D_GNU_SOURCE -DPAGE_FILE='""' \
		-DSTRATA_VERSION='""' $(LINT_SRC)
	$(Q)touch $@

bench: deps
	$(Q)scripts/deps bench
	$(Q)scripts/fetch-web $(B)/npm
	$(Q)$(MAKE) $(PARALLEL) all bench-built
	$(Q)scripts/with-tracefs bench/run
	$(Q)scripts/with-tracefs bench/functions
	$(Q)bench/sql
	$(Q)bench/export
	$(Q)bench/report
	$(Q)bench/agent

.PHONY: tests-built bench-built
TOOLS := $(addprefix $(B)/tools/,schema-docs rows_to_run small_bomb refuse_bpf.so cut_mapped.so)
tests-built: $(UNIT) $(SAN_UNIT) $(WORK) $(MAN) $(TOOLS) $(STANDIN) $(B)/bench/make_run $(patsubst %.c,$(B)/%,$(wildcard fuzz/*.c))
bench-built: $(WORK) $(patsubst bench/%.c,$(B)/bench/%,$(filter-out %.bpf.c,$(wildcard bench/*.c))) $(patsubst bench/%.bpf.c,$(B)/bench/%.bpf.o,$(wildcard bench/*.bpf.c))

# ---- the program ----

$(B)/strata: $(CMD_OBJ) $(LIVE_OBJ) $(REC_OBJ) $(LIB_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LINKED) -o $@ $^ $(REC_LIBS)

$(B)/strata-cluster: $(CLUSTER_OBJ) $(B)/src/cmd/cmd.o $(B)/src/cmd/prompt.o $(LIVE_OBJ) $(REC_OBJ) $(LIB_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LINKED) -o $@ $^ $(REC_LIBS) $(CLUSTER_LIBS)

$(B)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(REC_OBJ) $(LIVE_OBJ): | $(SKEL) $(B)/gen/syscall_numbers.h

# Names of all system calls by number, from the C library's header.
UNISTD := /usr/include/$(MULTIARCH)/asm/unistd_64.h
$(B)/gen/syscall_numbers.h: $(UNISTD)
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q){ echo 'static const char *const syscall_by_number[] = {'; \
		sed -nE 's/^#define __NR_([a-z0-9_]+) ([0-9]+)$$/\t[\2] = "\1",/p' $<; \
		echo '};'; \
		echo '#define SYSCALL_NUMBER_COUNT (sizeof(syscall_by_number) / sizeof(*syscall_by_number))'; } > $@

# ---- the report page: web/ and uPlot, the one library that it uses, as one file inside the program ----

# fetch-npm compares what was fetched before with its hash, each time that it is used.
UPLOT := $(B)/npm/uplot

$(PAGE): scripts/bundle-page $(wildcard web/*) $(wildcard $(UPLOT)/dist/uPlot.iife.min.js)
	$(call say,PAGE,$@)
	$(Q)mkdir -p $(@D)
	$(Q)scripts/fetch-npm uplot 1.6.32 \
		sha512-KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw== $(UPLOT)
	$(Q)scripts/bundle-page $(UPLOT)/dist > $@

# Where strata-cluster is looked for by a strata with rights of its own is part of the program.
$(B)/gen/prefix: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(PREFIX)' | cmp -s - $@ || echo '$(PREFIX)' > $@
.PHONY: FORCE
$(B)/src/cmd/cluster.o: $(B)/gen/prefix

$(B)/src/render/page_html.o: $(PAGE)
$(B)/src/cluster/agent_http.o: web/agent.html
$(B)/src/symbols/presets.o: src/symbols/presets.txt

# ---- libraries that processes of the job load, as files inside the program ----

# Linked to nothing, so that they load beside any C library: they name what they need of it, and bear that it is not there. Without
# the builtins of the compiler, which would call some of it by themselves.

INPROCESS_SRC := $(sort $(wildcard src/inprocess/*.c))
INJECT_FLAGS  := -std=gnu11 $(WARN) -O2 -D_GNU_SOURCE -Isrc -U_FORTIFY_SOURCE -fPIC -fvisibility=hidden -fno-builtin \
	-fno-stack-protector -ftls-model=initial-exec -fexceptions
INJECT_LINKED := -shared -nostdlib -s -Wl,-z,relro,-z,now,-z,noexecstack,-z,defs

$(B)/inject/libstrata_calls.so: $(INPROCESS_SRC) $(wildcard src/inprocess/*.h src/inprocess/*.def src/inject/*.h)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(INJECT_FLAGS) $(INJECT_LINKED) -Wl,-soname,$(@F) -o $@ $(INPROCESS_SRC)

# Small and without needs: whatever program of the job has it mapped, and most have no use for it.
$(B)/inject/libstrata_gpu.so: $(sort $(wildcard src/gpu/*.c)) $(wildcard src/gpu/*.h) src/inject/shared.h src/inject/writer.h
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) -O2 -g1 -Isrc -D_GNU_SOURCE -fPIC -fvisibility=hidden -shared -pthread -Wl,-z,defs,-z,relro,-z,now,-z,noexecstack \
		-Wl,--as-needed -o $@ $(filter %.c,$^)
	$(Q)strip --strip-unneeded $@

$(B)/src/capture/injection.o $(B)/san/src/capture/injection.o $(B)/tsan/src/capture/injection.o $(B)/fuzz/obj/src/capture/injection.o: $(B)/inject/libstrata_calls.so $(B)/inject/libstrata_gpu.so

# ---- BPF: every program file is an object of its own, whose skeleton its probe includes ----

$(B)/bpf/%.bpf.o: src/bpf/%.bpf.c
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -Wall -Wextra -Wno-unused-parameter \
		-Werror -Isrc -idirafter /usr/include/$(MULTIARCH) -MMD -MP -c -o $@ $<

# The BPF linker leaves out what only a debugger reads.
$(B)/bpf/%.linked.o: $(B)/bpf/%.bpf.o
	$(Q)$(BPFTOOL) gen object $@ $<

$(B)/bpf/%.skel.h: $(B)/bpf/%.linked.o
	$(call say,SKEL,$@)
	$(Q){ echo '#include "bpf/shared.h"'; $(BPFTOOL) gen skeleton $< name $*_bpf; } > $@

# ---- tests ----

$(B)/unit/%: tests/unit/%.c $(LIB_OBJ)
	$(call say,TEST,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Itests/unit -MMD -MP -o $@ $< $(LIB_OBJ) -lcmocka $(LIB_LIBS)

$(B)/tools/%.so: tests/tools/%.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) -O2 -g -D_GNU_SOURCE -shared -fPIC -MMD -MP -o $@ $<

# Stand-ins for a GPU's libraries, for machines without one.
$(B)/standin/libnvidia-ml.so.1: tests/standin/nvml.c
$(B)/standin/libcupti.so.13: tests/standin/cupti.c
$(B)/standin/%:
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) -O2 -g -D_GNU_SOURCE -shared -fPIC -fvisibility=hidden -pthread -Wl,-soname,$* -MMD -MP -o $@ $<

$(B)/standin/cuda_job: tests/standin/cuda_job.c $(B)/standin/libcupti.so.13
	$(call say,CC,$<)
	$(Q)$(CC) -std=gnu11 $(WARN) -O2 -g -D_GNU_SOURCE -pthread -MMD -MP -o $@ $^ '-Wl,-rpath,$$ORIGIN' -Wl,--no-as-needed -lstdc++

# These look into NVIDIA's headers, where there are some.
CUDA_HEADERS := $(patsubst %,-idirafter %,$(wildcard /usr/local/cuda/include))
$(B)/unit/test_gpu_headers $(B)/san/unit/test_gpu_headers: CPPFLAGS += $(CUDA_HEADERS)

$(B)/standin/nvtx_job: tests/standin/nvtx_job.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) -O2 -g -D_GNU_SOURCE $(CUDA_HEADERS) -MMD -MP -o $@ $< -ldl

# What the recorder does without a kernel: decoders, and where files are.
REC_UNIT := test_decode test_decode_threads test_mounts
$(addprefix $(B)/unit/,$(REC_UNIT)): $(B)/unit/%: tests/unit/%.c $(REC_OBJ) $(LIB_OBJ)
	$(call say,TEST,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Itests/unit -MMD -MP -o $@ $< $(REC_OBJ) $(LIB_OBJ) -lcmocka $(REC_LIBS)

# What strata-cluster is made of, for its own tests.
CLUSTER_PARTS := $(filter-out $(B)/src/cluster/main.o,$(CLUSTER_OBJ)) $(B)/src/cmd/cmd.o $(B)/src/cmd/prompt.o $(LIVE_OBJ) $(REC_OBJ)
$(B)/unit/test_cluster_%: tests/unit/test_cluster_%.c $(CLUSTER_PARTS) $(LIB_OBJ)
	$(call say,TEST,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -Itests/unit -MMD -MP -o $@ $< $(CLUSTER_PARTS) $(LIB_OBJ) -lcmocka $(REC_LIBS) $(CLUSTER_LIBS)

$(B)/tools/%: tests/tools/%.c $(LIB_OBJ)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP -o $@ $< $(LIB_OBJ) $(LIB_LIBS)

$(B)/workloads/%: tests/workloads/%.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) -O2 -g -D_GNU_SOURCE -pthread -MMD -MP -o $@ $< $(WORK_LIBS)

$(B)/workloads/%: tests/workloads/%.cc
	$(call say,CXX,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -Wall -Wextra -Werror -O2 -g -MMD -MP -o $@ $<

$(B)/workloads/uring $(B)/workloads/waits: WORK_LIBS := -luring

FUZZ_FLAGS := -std=gnu11 $(WARN) -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined \
	-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
FUZZ_OBJ   := $(patsubst %.c,$(B)/fuzz/obj/%.o,$(LIB_SRC))
$(B)/fuzz/make_seeds: fuzz/make_seeds.c $(LIB_OBJ)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP -o $@ $< $(LIB_OBJ) $(LIB_LIBS)

$(B)/fuzz/obj/%.o: %.c
	$(call say,FUZZ,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_FLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(B)/fuzz/obj/src/render/page_html.o: $(PAGE)

$(B)/fuzz/%: fuzz/%.c $(FUZZ_OBJ)
	$(call say,FUZZ,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer $(CPPFLAGS) -MMD -MP -o $@ $< $(FUZZ_OBJ) $(LIB_LIBS)

FUZZ_CLUSTER := $(patsubst %.c,$(B)/fuzz/obj/%.o,$(filter-out src/cluster/main.c,$(CLUSTER_SRC)) $(LIVE_SRC) $(REC_SRC) src/cmd/cmd.c src/cmd/prompt.c)
$(FUZZ_CLUSTER): | $(SKEL) $(B)/gen/syscall_numbers.h
$(B)/fuzz/fuzz_cluster_%: fuzz/fuzz_cluster_%.c $(FUZZ_CLUSTER) $(FUZZ_OBJ)
	$(call say,FUZZ,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer $(CPPFLAGS) -MMD -MP -o $@ $< $(FUZZ_CLUSTER) $(FUZZ_OBJ) $(REC_LIBS) $(CLUSTER_LIBS)

# Under the sanitizers, for the unit programs and (make soak) the whole program: the objects of the fuzzers, but with checksums
# that must hold.
SAN_FLAGS := $(filter-out -DFUZZING% -fsanitize=fuzzer-no-link%,$(FUZZ_FLAGS)) -fsanitize=address,undefined
SAN_LIB   := $(filter-out %/store/format.o,$(FUZZ_OBJ)) $(B)/san/src/store/format.o
SAN_REC   := $(patsubst %.c,$(B)/san/%.o,$(REC_SRC))
SAN_LIVE  := $(patsubst %.c,$(B)/san/%.o,$(LIVE_SRC))
SAN_CMD   := $(patsubst %.c,$(B)/san/%.o,$(CMD_SRC))
SAN_CLUSTER := $(patsubst %.c,$(B)/san/%.o,$(CLUSTER_SRC))

$(B)/san/%.o: %.c
	$(call say,SAN,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(SAN_FLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(SAN_REC) $(SAN_LIVE): | $(SKEL) $(B)/gen/syscall_numbers.h

# ASan must find the exceptions of C++, which DuckDB throws, before DuckDB is loaded.
$(B)/san/strata: $(SAN_CMD) $(SAN_LIVE) $(SAN_REC) $(SAN_LIB)
	$(call say,SAN,$@)
	$(Q)$(CLANG) $(SAN_FLAGS) -o $@ $^ $(REC_LIBS) -Wl,--no-as-needed -lstdc++

$(B)/san/strata-cluster: $(SAN_CLUSTER) $(B)/san/src/cmd/cmd.o $(B)/san/src/cmd/prompt.o $(SAN_LIVE) $(SAN_REC) $(SAN_LIB)
	$(call say,SAN,$@)
	$(Q)$(CLANG) $(SAN_FLAGS) -o $@ $^ $(REC_LIBS) $(CLUSTER_LIBS)

$(B)/san/unit/%: tests/unit/%.c $(SAN_LIB)
	$(call say,SAN,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(SAN_FLAGS) $(CPPFLAGS) -Itests/unit -MMD -MP -o $@ $< $(SAN_LIB) -lcmocka $(LIB_LIBS)

$(addprefix $(B)/san/unit/,$(REC_UNIT)): $(B)/san/unit/%: tests/unit/%.c $(SAN_REC) $(SAN_LIB)
	$(call say,SAN,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(SAN_FLAGS) $(CPPFLAGS) -Itests/unit -MMD -MP -o $@ $< $(SAN_REC) $(SAN_LIB) -lcmocka $(REC_LIBS)

SAN_CLUSTER_PARTS := $(filter-out $(B)/san/src/cluster/main.o,$(SAN_CLUSTER)) $(B)/san/src/cmd/cmd.o $(B)/san/src/cmd/prompt.o $(SAN_LIVE) $(SAN_REC)
$(B)/san/unit/test_cluster_%: tests/unit/test_cluster_%.c $(SAN_CLUSTER_PARTS) $(SAN_LIB)
	$(call say,SAN,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(SAN_FLAGS) $(CPPFLAGS) -Itests/unit -MMD -MP -o $@ $< $(SAN_CLUSTER_PARTS) $(SAN_LIB) -lcmocka $(REC_LIBS) $(CLUSTER_LIBS)

# Under the thread sanitizer: the recorder with its drain threads.
TSAN_FLAGS := -std=gnu11 $(WARN) -O1 -g -fsanitize=thread -fPIE
$(B)/tsan/%.o: %.c | $(SKEL) $(B)/gen/syscall_numbers.h $(PAGE)
	$(call say,TSAN,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(TSAN_FLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(B)/tsan/strata: $(patsubst %.c,$(B)/tsan/%.o,$(LIB_SRC) $(REC_SRC) $(LIVE_SRC) $(CMD_SRC))
	$(call say,TSAN,$@)
	$(Q)$(CLANG) $(TSAN_FLAGS) -o $@ $^ $(REC_LIBS)

.PHONY: soak-built
soak-built: $(B)/san/strata $(B)/san/strata-cluster $(B)/tsan/strata

# ---- tools, docs ----

$(B)/tools/schema-docs: $(B)/src/schema/docs.o $(LIB_OBJ)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIB_LIBS)

docs: $(B)/tools/schema-docs
	$(Q)$< > docs/tables.md

$(B)/man/%: man/%.scd
	$(call say,MAN,$<)
	$(Q)mkdir -p $(@D)
	$(Q)scdoc < $< > $@

$(B)/man/strata-%.5: docs/%.md
	$(call say,MAN,$<)
	$(Q)mkdir -p $(@D)
	$(Q)lowdown -s -tman --nroff-nolinks -M title=strata-$* -M section=5 $< | \
		sed "/^\.TH/a .SH NAME\nstrata-$* \\\\- $$(sed -n '1s/^# //p' $<)" > $@

# ---- benchmarks ----

$(B)/bench/%.bpf.o: bench/%.bpf.c
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -Wall -Wextra -Wno-unused-parameter \
		-Werror -Isrc -idirafter /usr/include/$(MULTIARCH) -MMD -MP -c -o $@ $<

$(B)/bench/%: bench/%.c $(LIB_OBJ)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP -o $@ $< $(LIB_OBJ) $(LIBS) -lm

# ---- install, clean ----

install: all $(MAN)
	$(if $(wildcard $(B)/libduckdb.so),scripts/fetch-duckdb $(B))
	install -D -m 755 $(B)/strata $(DESTDIR)$(PREFIX)/bin/strata
	install -D -m 755 $(B)/strata-cluster $(DESTDIR)$(PREFIX)/libexec/strata/strata-cluster
	for file in $(wildcard $(B)/libduckdb.so $(B)/libduckdb.LICENSE); do install -D -m 644 $$file $(DESTDIR)$(PREFIX)/lib/strata/$$(basename $$file); done
	for page in $(MAN); do install -D -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$$(basename $$page); done

clean:
	rm -rf $(B)

FORMATTED := $(shell git ls-files '*.c' '*.h' 2>/dev/null)
format:
	$(Q)clang-format -i $(FORMATTED)

check-format:
	$(Q)clang-format --dry-run -Werror $(FORMATTED)

-include $(shell find $(B) -name '*.d' 2>/dev/null)
