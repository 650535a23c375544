# halter. Plain GNU make; nothing has to be installed by hand: deps/ fetches and builds the libraries, deps/need.sh
# installs the tools that are missing (and says so first).
#
#   make                 the four binaries: build/halter halter-jem halter-http halter-http-jem
#   make demo            build and run "halter demo"
#   make check           all tests; its parts (check-format check-lint check-unit check-compilers check-seam check-static
#                        check-fuzz check-e2e check-variants-short) are targets too
#   make check-variants  all end-to-end tests but those of HTTP mode, with each of the four binaries
#   make fuzz            FUZZ=NAME FUZZ_SECONDS=600: a longer run of one fuzzer
#   make bench           halter and its peers compared: build/bench/report.md. BENCH=quick, BENCH="WORKLOAD ...",
#                        CONTESTANTS="NAME ...", ROUNDS=n, SECONDS=n (tests/bench/run --help)
#   make format          clang-format, in place
#   make deps            only the libraries     make install  PREFIX=/usr/local DESTDIR=
#   make clean           remove build/          make distclean  and the cached libraries

VERSION = 0.1.0

# ---- switches ----------------------------------------------------------------------------------------------------
HTTP            ?=#       0|1  only the binaries without/with HTTP
JEMALLOC        ?=#       0|1  only the binaries without/with jemalloc
TLS             ?= openssl#    the TLS library
STATIC_OPENSSL  ?= yes#   yes: our own, from deps/   no: the system's, by pkg-config
STATIC_LIBEV    ?= yes
STATIC_CARES    ?= yes
STATIC_LLHTTP   ?= yes
STATIC_JEMALLOC ?= yes
OPENSSL_PREFIX  ?=#       an OpenSSL of your own: include/ and lib/ are there
SAN             ?= 0#     1: AddressSanitizer and UndefinedBehaviorSanitizer, into build/san
V               ?= 0#     1: show the commands
FUZZ_SECONDS    ?= 60#    for all fuzzers together in make check; for each in make fuzz
PREFIX          ?= /usr/local
ifeq ($(origin CC),default)
CC = gcc
endif
DEPS_CC         ?= $(if $(shell command -v gcc),gcc,$(CC))

# ---- rooms: what is built, and what a room may see ---------------------------------------------------------------
# Floors, lowest first. tests/lint/floors holds the same order against the #include lines.
FLOOR1 = base conf proxy names msg metrics
FLOOR2 = os tls
FLOOR3 = relay
FLOOR4 = worker
FLOOR5 = master
FLOOR6 = main
ROOMS  = $(FLOOR1) $(FLOOR2) $(FLOOR3) $(FLOOR4) $(FLOOR5) $(FLOOR6)

# Which library a room may use: only these rooms are compiled with the library's headers in sight.
USES_tls    = $(TLS)
USES_os     = c-ares
USES_worker = libev
USES_master = libev
USES_http   = llhttp

# What a unit test of a room is linked with, beside the room itself: that it links proves the layering.
LINK_base    =
LINK_conf    = base
LINK_proxy   = base
LINK_names   = base
LINK_msg     = base
LINK_metrics = base
LINK_os      = base
LINK_tls     = base conf names metrics os
LINK_relay   = $(FLOOR1) os tls
LINK_worker  = $(FLOOR1) os tls relay
LINK_master  = $(FLOOR1) os tls relay worker
LINK_main    = $(FLOOR1) os tls relay worker master
LINK_http    = $(FLOOR1)
# A fuzzer is linked with floor 1, and what is said here: FUZZ_LINK_name = room...
FUZZ_LINK    = $(FLOOR1)
FUZZ_LINK_relay = os tls relay
FUZZ_LINK_http_request = http

# ---- one build folder for each kind of build ---------------------------------------------------------------------
KIND ?= $(if $(filter 1,$(SAN)),san,plain)
B    ?= build$(addprefix /,$(filter-out plain,$(KIND)))
O    := $(B)/obj
Q    := $(if $(filter 1,$(V)),,@)
say   = @$(if $(filter 1,$(V)),:,printf '  %-4s %s\n' $(1) $(2))
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
$(if $(filter plain san fuzz,$(KIND)),,$(error KIND is plain, san or fuzz))
$(if $(filter openssl,$(TLS)),,$(error TLS=$(TLS): only openssl so far))

no_build := clean distclean format check-format check-lint deps-list help
ifneq ($(filter-out $(no_build),$(or $(MAKECMDGOALS),all)),)

# ---- libraries ---------------------------------------------------------------------------------------------------
DEPS := openssl libev c-ares llhttp jemalloc cmocka
$(foreach d,$(join $(addsuffix =,$(DEPS)),$(shell DEPS_CC='$(DEPS_CC)' deps/dep prefix $(DEPS))),\
  $(eval DIR_$(subst =, := ,$(d))))
$(if $(DIR_cmocka),,$(error deps/dep cannot tell where the libraries are: see above))

# library NAME, SWITCH, our archives, pkg-config name, what to link when there is no .pc: sets INC_, LIB_ and HAVE_NAME
define library
ifeq ($(2),yes)
INC_$(1)  := -isystem $$(DIR_$(1))/include
LIB_$(1)  := $$(addprefix $$(DIR_$(1))/lib/,$(3))
HAVE_$(1) := $$(DIR_$(1))/complete
else ifeq ($(2),no)
INC_$(1)  := $$(shell pkg-config --cflags $(4) 2>/dev/null)
LIB_$(1)  := $$(or $$(shell pkg-config --libs $(4) 2>/dev/null),$(5))
HAVE_$(1) :=
else
$$(error STATIC_...=$(2): it is yes or no)
endif
endef
$(eval $(call library,openssl,$(if $(OPENSSL_PREFIX),yes,$(STATIC_OPENSSL)),libssl.a libcrypto.a,openssl,-lssl -lcrypto))
$(eval $(call library,libev,$(STATIC_LIBEV),libev.a,libev,-lev))
$(eval $(call library,c-ares,$(STATIC_CARES),libcares.a,libcares,-lcares))
$(eval $(call library,llhttp,$(STATIC_LLHTTP),libllhttp.a,libllhttp,-lllhttp))
$(eval $(call library,jemalloc,$(STATIC_JEMALLOC),libjemalloc.a,jemalloc,-ljemalloc))
$(eval $(call library,cmocka,yes,libcmocka.a,,))
ifneq ($(OPENSSL_PREFIX),)
OPENSSL_LIB  := $(firstword $(wildcard $(addprefix $(OPENSSL_PREFIX)/,lib64/libssl.a lib/libssl.a lib64/libssl.so lib/libssl.so)))
$(if $(OPENSSL_LIB),,$(error OPENSSL_PREFIX=$(OPENSSL_PREFIX): there is no lib/libssl.a or libssl.so))
INC_openssl  := -isystem $(OPENSSL_PREFIX)/include
LIB_openssl  := $(OPENSSL_LIB) $(subst libssl,libcrypto,$(OPENSSL_LIB))
HAVE_openssl :=
endif
LIB_SYSTEM := -lpthread -ldl -lm

# ---- flags -------------------------------------------------------------------------------------------------------
hash := \#
has_flags = $(shell for f in $(1); do echo '$(hash)include <string.h>' | $(CC) -O2 -Werror $$f -xc -c -o /dev/null - \
  >/dev/null 2>&1 && echo "$$f"; done)
WARN := -Wall -Wextra -Werror -Wswitch-enum -Wenum-conversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
  -Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings
HARD := -fPIE -fno-strict-aliasing -fstack-protector-strong $(call has_flags,-fstack-clash-protection -fcf-protection)
HARD_LINK := -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--as-needed
FORTIFY := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(if $(call has_flags,-D_FORTIFY_SOURCE=3),3,2)
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -U_FORTIFY_SOURCE

all_static := $(if $(filter no,$(STATIC_OPENSSL) $(STATIC_LIBEV) $(STATIC_CARES) $(STATIC_LLHTTP) $(STATIC_JEMALLOC))$(filter %.so,$(LIB_openssl)),,yes)
ifeq ($(KIND),plain)
OPT  := -O2 -g $(FORTIFY)
LINK := $(if $(all_static),-static-pie,-pie)
else ifeq ($(KIND),san)
OPT  := -O1 -g $(SANITIZE)
LINK := -pie $(SANITIZE)
else
OPT  := -O1 -g $(SANITIZE) -fsanitize=fuzzer-no-link
LINK := -pie $(SANITIZE) -fsanitize=fuzzer
endif
HALTER_CFLAGS  := -std=gnu11 $(OPT) $(WARN) $(HARD) -ffile-prefix-map=$(CURDIR)=. -D_GNU_SOURCE -Iinclude $(CFLAGS)
HALTER_LDFLAGS := $(LINK) $(HARD_LINK) $(LDFLAGS)

# ---- objects -----------------------------------------------------------------------------------------------------
# The core is compiled once, for all four binaries. What differs between them: src/main/variant.c and src/http/ (with or
# without -DHALTER_HTTP), and which of src/main/alloc_*.c is linked.
special := src/main/variant.c $(wildcard src/main/alloc_*.c)
sources  = $(filter-out $(special),$(wildcard src/$(1)/*.c))
objects  = $(patsubst src/%.c,$(O)/%.o,$(foreach r,$(1),$(call sources,$(r))))
CORE    := $(call objects,$(ROOMS))
CORE_0  := $(O)/without-http/main/variant.o
CORE_1  := $(O)/with-http/main/variant.o $(patsubst src/%.c,$(O)/with-http/%.o,$(wildcard src/http/*.c))
SEAM    ?=#  check-seam sets it to -DHALTER_HTTP, to show that the core does not notice

room     = $(firstword $(subst /, ,$(1)))
inc      = $(foreach u,$(USES_$(call room,$(1))),$(INC_$(u)))
compile  = $(Q)mkdir -p $(@D) && $(CC) $(HALTER_CFLAGS) $(1) -MMD -MP -c $< -o $@

# Everything is compiled anew when the compiler, a flag or a library changes.
flags := $(VERSION) $(shell $(CC) --version | head -n 1) $(HALTER_CFLAGS) $(HALTER_LDFLAGS) $(SEAM) \
  $(foreach d,$(DEPS),$(INC_$(d)) $(LIB_$(d)))
FORCE:
$(B)/flags: FORCE
	@mkdir -p $(@D); echo '$(flags)' | cmp -s - $@ || echo '$(flags)' >$@

$(O)/%.o: src/%.c $(B)/flags
	$(call say,CC,$<)
	$(call compile,$(call inc,$*) $(SEAM))
$(O)/main/alloc_jemalloc.o: src/main/alloc_jemalloc.c $(B)/flags | $(HAVE_jemalloc)
	$(call say,CC,$<)
	$(call compile,$(INC_jemalloc))
$(O)/without-http/%.o: src/%.c $(B)/flags
	$(call say,CC,$<)
	$(call compile,-DHALTER_VERSION='"$(VERSION)"')
$(O)/with-http/%.o: src/%.c $(B)/flags | $(HAVE_llhttp)
	$(call say,CC,"$< (HTTP)")
	$(call compile,-DHALTER_HTTP -DHALTER_VERSION='"$(VERSION)"' $(call inc,$*))
$(foreach r,$(ROOMS),$(if $(USES_$(r)),$(eval $(call objects,$(r)): | $(foreach u,$(USES_$(r)),$(HAVE_$(u))))))

# Each missing library: fetched, verified, built.
define build_library
$$(DIR_$(1))/complete:
	+$$(Q)DEPS_CC='$$(DEPS_CC)' MAKE='$$(MAKE)' deps/dep build $(1)
endef
$(foreach d,$(DEPS),$(eval $(call build_library,$(d))))

# ---- binaries ----------------------------------------------------------------------------------------------------
LIBS := $(LIB_$(TLS)) $(LIB_libev) $(LIB_c-ares)
LIBS_HAVE := $(HAVE_$(TLS)) $(HAVE_libev) $(HAVE_c-ares)
link  = $(Q)mkdir -p $(@D) && $(CC) $(HALTER_CFLAGS) $(HALTER_LDFLAGS) -o $@ $(filter %.o,$^) $(1) $(LIB_SYSTEM)

# binary NAME, HTTP, ALLOCATOR, more libraries
define binary
$(B)/$(1): $$(CORE) $$(CORE_$(2)) $$(O)/main/alloc_$(3).o $$(B)/flags | $$(LIBS_HAVE) $(foreach l,$(4),$$(HAVE_$(l))) $(B)/tools
	$$(call say,LINK,$$@)
	$$(call link,$$(LIBS) $(foreach l,$(4),$$(LIB_$(l))))
endef
$(eval $(call binary,halter,0,libc,))
$(eval $(call binary,halter-jem,0,jemalloc,jemalloc))
$(eval $(call binary,halter-http,1,libc,llhttp))
$(eval $(call binary,halter-http-jem,1,jemalloc,llhttp jemalloc))

# AddressSanitizer brings its own malloc
with_http := $(or $(filter 0 1,$(HTTP)),0 1)
with_jem  := $(if $(filter san,$(KIND)),0,$(or $(filter 0 1,$(JEMALLOC)),0 1))
BINARIES  := $(foreach h,$(with_http),$(foreach j,$(with_jem),$(B)/halter$(if $(filter 1,$(h)),-http)$(if $(filter 1,$(j)),-jem)))

all: $(BINARIES)
core: $(CORE)
deps: $(foreach d,$(DEPS),$(HAVE_$(d)))
$(B)/tools: | $(B)/flags
	@deps/need.sh -q cc=$(CC) $(if $(filter plain,$(KIND)),$(if $(all_static),static-libc=$(CC)),sanitizers=$(CC))
	@touch $@

demo: build/halter
	build/halter demo $(DEMO)

install: $(BINARIES)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man8 $(DESTDIR)$(PREFIX)/share/man/man5
	install -m 755 $(BINARIES) $(DESTDIR)$(PREFIX)/bin/
	$(foreach s,8 5,$(if $(wildcard man/*.$(s)),install -m 644 $(wildcard man/*.$(s)) $(DESTDIR)$(PREFIX)/share/man/man$(s)/;))

# ---- unit tests --------------------------------------------------------------------------------------------------
# tests/unit/ROOM/NAME_test.c is a program; other .c files beside it are linked with each test of the room.
UNIT_TESTS := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/*/*_test.c))
UNIT_BINS  := $(addprefix $(B)/unit/,$(UNIT_TESTS))
without_main = $(filter-out $(O)/main/main.o,$(1))
unit_rooms = $(LINK_$(1)) $(filter-out http,$(1))
unit_uses  = $(sort $(foreach r,$(unit_rooms),$(USES_$(r))))
$(B)/unit/%.o: tests/unit/%.c $(B)/flags | $(HAVE_cmocka)
	$(call say,CC,$<)
	$(call compile,$(INC_cmocka) -Itests/unit -Isrc/$(call room,$*) $(if $(filter http,$(call room,$*)),-DHALTER_HTTP) $(call inc,$*))
define unit
$(B)/unit/$(1): $(B)/unit/$(1).o $(patsubst tests/unit/%.c,$(B)/unit/%.o,$(filter-out %_test.c,$(wildcard tests/unit/$(2)/*.c))) \
  $(call without_main,$(call objects,$(LINK_$(2)) $(filter-out http,$(2)))) \
  $(if $(filter main,$(2)),$(CORE_0) $(O)/main/alloc_libc.o) \
  $(if $(filter http,$(2)),$(filter-out $(O)/with-http/main/%,$(CORE_1))) $(B)/flags \
  | $(foreach r,$(LINK_$(2)) $(2),$(foreach u,$(USES_$(r)),$(HAVE_$(u)))) $(HAVE_cmocka) $(B)/tools
	$$(call say,LINK,$$@)
	$$(call link,$(sort $(LIB_cmocka)) $(foreach l,$(TLS) libev c-ares llhttp,$(if $(filter $(l),$(foreach r,$(LINK_$(2)) $(2),$(USES_$(r)))),$(LIB_$(l)))))
$(B)/unit/$(1).o: | $(foreach u,$(USES_$(2)),$(HAVE_$(u)))
endef
$(foreach t,$(UNIT_TESTS),$(eval $(call unit,$(t),$(call room,$(t)))))
unit-build: $(UNIT_BINS)
unit-run: $(UNIT_BINS)
	@tests/unit/run $(UNIT_BINS)

# ---- fuzzers -----------------------------------------------------------------------------------------------------
FUZZERS   := $(patsubst tests/fuzz/%_fuzz.c,%,$(wildcard tests/fuzz/*_fuzz.c))
FUZZ_BINS := $(patsubst %,$(B)/fuzz/%,$(if $(FUZZ),$(FUZZ),$(FUZZERS)))
$(B)/fuzz/%.o: tests/fuzz/%.c $(B)/flags
	$(call say,CC,$<)
	$(call compile,-Wno-missing-prototypes -Itests/fuzz $(foreach r,$(FUZZ_LINK_$(patsubst %_fuzz,%,$*)),$(foreach u,$(USES_$(r)),$(INC_$(u)))))
define fuzzer
$(B)/fuzz/$(1): $(B)/fuzz/$(1)_fuzz.o $(call objects,$(sort $(FUZZ_LINK) $(filter-out http,$(FUZZ_LINK_$(1))))) \
  $(if $(filter http,$(FUZZ_LINK_$(1))),$(filter-out $(O)/with-http/main/%,$(CORE_1))) $(B)/flags \
  | $(foreach r,$(FUZZ_LINK_$(1)),$(foreach u,$(USES_$(r)),$(HAVE_$(u))))
	$$(call say,LINK,$$@)
	$$(call link,$(foreach l,$(TLS) libev c-ares llhttp,$(if $(filter $(l),$(foreach r,$(FUZZ_LINK_$(1)),$(USES_$(r)))),$(LIB_$(l)))))
endef
$(foreach f,$(FUZZERS),$(eval $(call fuzzer,$(f))))
fuzz-build: $(FUZZ_BINS)

# ---- benchmark ---------------------------------------------------------------------------------------------------
# Load generator and backend. The load is always linked with OpenSSL, whatever halter is linked with.
$(B)/bench/%.o: tests/bench/%.c $(B)/flags | $(HAVE_openssl)
	$(call say,CC,$<)
	$(call compile,$(INC_openssl))
$(B)/bench/load: $(B)/bench/load.o $(B)/flags | $(HAVE_openssl)
	$(call say,LINK,$@)
	$(call link,$(LIB_openssl))
$(B)/bench/backend: $(B)/bench/backend.o $(B)/flags
	$(call say,LINK,$@)
	$(call link,)
bench-build: $(B)/bench/load $(B)/bench/backend

-include $(shell find $(B) -name '*.d' 2>/dev/null)
endif

# ---- checks ------------------------------------------------------------------------------------------------------
CHECKS = check-format check-lint check-unit check-compilers check-seam check-static check-fuzz check-e2e check-variants-short
.PHONY: FORCE all core deps demo install unit-build unit-run fuzz-build fuzz bench bench-build format check $(CHECKS) check-variants clean distclean
sub = +$(Q)$(MAKE) --no-print-directory

check:
	+@failed=; for t in $(CHECKS); do \
	  echo "== $$t"; $(MAKE) --no-print-directory $$t || failed="$$failed $$t"; done; \
	if [ -n "$$failed" ]; then echo "check: FAILED:$$failed"; exit 1; fi; echo "check: all of $(CHECKS) passed"

C_FILES = $(wildcard src/*/*.[ch] include/*/*.h tests/unit/*.[ch] tests/unit/*/*.[ch] tests/fuzz/*.[ch] tests/lint/*.c tests/bench/*.[ch])
format:
	@tests/lint/format -i $(C_FILES)
check-format:
	@tests/lint/format --dry-run $(C_FILES)
check-lint:
	@tests/lint/run

check-unit:
	$(sub) SAN=1 unit-run

check-e2e:
	$(sub) KIND=plain all
	$(sub) SAN=1 all
	@tests/run-e2e $(E2E)

# What has nothing to do with HTTP, with the four binaries as they are released: all of it, or some 240 fast tests.
VARIANTS = halter halter-jem halter-http halter-http-jem
variants = failed=; for b in $(1); do echo "== build/$$b"; \
	  HALTER_BINARY=$(CURDIR)/build/$$b HALTER_BINARY_PLAIN=$(CURDIR)/build/$$b \
	  tests/run-e2e --ignore-glob='*/test_http*' $(2) $(E2E) || failed="$$failed $$b"; done; \
	if [ -n "$$failed" ]; then echo "FAILED with$$failed"; exit 1; fi
check-variants:
	$(sub) KIND=plain all
	@$(call variants,$(VARIANTS),)
check-variants-short:
	$(sub) KIND=plain all
	@$(call variants,$(filter-out halter,$(VARIANTS)),-m 'not big' -k 'test_relay.py or test_tls.py or test_proxy.py')

fuzz:
	@deps/need.sh -q fuzzer
	$(sub) KIND=fuzz B=build/fuzz CC="$$(deps/need.sh --which fuzzer)" fuzz-build
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run long $(or $(FUZZ),$(FUZZERS))
check-fuzz:
	@deps/need.sh -q fuzzer
	$(sub) KIND=fuzz B=build/fuzz CC="$$(deps/need.sh --which fuzzer)" fuzz-build
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run short $(FUZZERS)

check-static:
	$(sub) KIND=plain HTTP=0 JEMALLOC=0 all
	@tests/static/chroot build/halter

check-seam:
	$(sub) KIND=plain all
	$(sub) KIND=plain B=build/seam/with SEAM=-DHALTER_HTTP core
	@tests/static/seam build build/seam/with

check-compilers:
	@deps/need.sh -q clang
	$(sub) KIND=plain B=build/clang CC="$$(deps/need.sh --which clang)" all
	@deps/need.sh -q system-openssl
	$(sub) KIND=plain B=build/system-openssl STATIC_OPENSSL=no all
	@for b in build/clang/halter build/system-openssl/halter; do echo "== $$b"; $$b --version || exit 1; done

bench:
	$(sub) KIND=plain all bench-build
	@tests/bench/run --build '$(B)' --bench '$(BENCH)' --contestants '$(CONTESTANTS)' --rounds '$(ROUNDS)' --seconds '$(SECONDS)'

clean:
	rm -rf build
distclean: clean
	rm -rf "$${HALTER_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/halter}"
