# nowplayingd: every target installs the Debian packages that it lacks (as root with apt-get, else with sudo, else it
# prints the line to type and ends with status 1). If no package is missing, it uses neither apt nor the network.
#
#   make run                 build and play the project's tune
#   make run FILE=~/Music    build and play a file or a folder
#   make help                the other targets

SHELL := /bin/bash
PREFIX ?= /usr/local
DESTDIR ?=
FILE ?=
BENCH ?=
RIVALS ?= mpd mpv cmus
MATERIAL ?=
HOURS ?=
MINUTES ?=
TRACKS ?=
PACE ?=
N ?=
BUSY ?=
PROGRAMS ?= build
RELEASE ?=
SHORT ?=
# Those of the command line alone.
ARCH =
COMPILER =
# Starts a program of another processor.
RUNNER =

bindir = $(DESTDIR)$(PREFIX)/bin
mandir = $(DESTDIR)$(PREFIX)/share/man
bashdir = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
zshdir = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
fishdir = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
docdir = $(DESTDIR)$(PREFIX)/share/doc/nowplayingd
includedir = $(DESTDIR)$(PREFIX)/include/nowplayingd
libexecdir = $(DESTDIR)$(PREFIX)/libexec/nowplayingd
unitdir = $(DESTDIR)$(PREFIX)/lib/systemd
# D-Bus reads policies in /usr/share and /etc alone.
busdir = $(DESTDIR)$(if $(filter /usr/local,$(PREFIX)),/etc,$(PREFIX)/share)/dbus-1/system.d
# ufw reads profiles in /etc alone.
ufwdir = $(DESTDIR)$(if $(filter /usr /usr/local,$(PREFIX)),,$(PREFIX))/etc/ufw/applications.d
buspolicy = etc/dbus/org.mpris.MediaPlayer2.nowplayingd.conf
samples = $(DESTDIR)$(PREFIX)/share/nowplayingd

# The files say where `make install` puts the samples by default. FILE… FOLDER: installs them with this prefix in its place.
define install-text
for file in $(1); do \
    sed 's|/usr/local/share/nowplayingd|$(PREFIX)/share/nowplayingd|g' "$$file" > "$(2)/$${file##*/}" && \
    chmod $(3) "$(2)/$${file##*/}" || exit 1; done
endef

# The program makes the completions of a shell from its own table of verbs. SHELL, FILE.
define install-completion
$(RUNNER) "$(PROGRAMS)/nowplayingctl" completion $(1) > "$(2)" && chmod 644 "$(2)"
endef

# ONLY: the programs of a package for a trial.
ONLY ?=
programs = $(if $(ONLY),$(ONLY),$(every))
every = nowplayingd nowplayingctl nowplaying-library nowplaying-hooks nowplaying-mpd nowplaying-mpris nowplaying-mqtt \
    nowplaying-snapcast nowplaying-web
units = $(patsubst etc/systemd/%,%,$(wildcard etc/systemd/user/*.* etc/systemd/system/*.*))

.PHONY: help run build test test-clients page-figures repeat lint bench nightly faults soak sanitize fuzz microbenchmarks corpora install install-files deb wheel newcomer box-arm64 uninstall clean

help:
	@sed -n 's/^#:  *//p' Makefile

#: make run [FILE=…]            install missing packages, build what plays, play FILE (a file or a folder) or the project's tune
run:
	@Scripts/packages play run
	@timeout 5 pactl info > /dev/null 2>&1 || Scripts/packages server
	@Scripts/build play $(if $(FILE),"$$FILE")
	@Scripts/run $(if $(FILE),"$$FILE")
run: export FILE := $(FILE)

#: make build                   release build, stripped, in build/
build:
	@Scripts/packages build
	@Scripts/optional
	@Scripts/build

#: make test [FILTER=…]         install missing packages, build and run all tests (20 minutes, 39 with the first build)
test:
	@Scripts/packages build decode run test
	@Scripts/test

#: make test-clients            real MPD programs, the page in browsers, Home Assistant, Snapcast (fifteen minutes)
test-clients:
	@Scripts/packages build decode run clients
	@Scripts/optional
	@Scripts/build
	@Scripts/test-clients

#: make page-figures            figures of the page and of nowplaying-web, on a quiet machine (eight minutes)
page-figures:
	@Scripts/packages build run clients
	@Scripts/optional
	@Scripts/build
	@/usr/bin/python3 -B Tests/Page/figures.py build

#: make repeat [N=20] [BUSY=yes]  run the tests that meet a sound server N times; BUSY: beside a processor that is busy
repeat:
	@Scripts/packages build decode run test
	@Scripts/repeat $(or $(N),20) $(if $(BUSY),busy)

#: make lint                    format, import direction, file lengths, documentation
lint:
	@Scripts/packages build lint
	@Scripts/lint

#: make nightly [MINUTES=20]    all that takes long: tests, sanitizers, fuzz, soak, faults, Home Assistant, microbenchmarks (six hours)
nightly:
	@Scripts/packages build decode run test clients microbenchmarks
	@Scripts/nightly
nightly: export MINUTES := $(MINUTES)

#: make faults [KILLS=10000]   the fault campaign, with the clock set for moments; see Tests/Faults/RESULTS.md (an hour)
faults:
	@Scripts/packages build run test
	@Scripts/faults
faults: export KILLS := $(KILLS)

#: make soak [TRACKS=10000] [PACE=8] | HOURS=…  a long life of a box, in less; see Tests/Soak/RESULTS.md
soak:
	@Scripts/packages build decode run test
	@Scripts/soak
soak: export HOURS := $(HOURS)
soak: export TRACKS := $(TRACKS)
soak: export PACE := $(PACE)

#: make sanitize [SANITIZER=thread|address]  the tests under a sanitizer; without one under both (half an hour each)
sanitize:
	@Scripts/packages build decode run test
	@status=0; for kind in $(or $(SANITIZER),thread address); do Scripts/sanitize $$kind || status=1; done; exit $$status

#: make fuzz [MINUTES=20] [TARGETS="flac …"]  search for inputs that break a reader of foreign bytes
fuzz:
	@Scripts/packages build decode run test
	@Scripts/fuzz $(or $(MINUTES),20) $(TARGETS)

#: make corpora                odd files of other programs' tests; see Tests/Corpora/RESULTS.md (fetches 20 MB)
corpora:
	@Scripts/packages build decode run test
	@Scripts/corpora

#: make bench [BENCH="clock …"] [RIVALS="mpd mpv cmus mopidy"] [MINUTES=10]  measure it beside others; see Benchmarks/RESULTS.md
#                             (MINUTES: of playing beside scans, in the measure library)
bench:
	@Scripts/packages build run bench
	@Scripts/rivals $(RIVALS)
	@Scripts/build
	@python3 Benchmarks/bench.py $(BENCH) --rivals "$$RIVALS" $(if $(MATERIAL),--material "$$MATERIAL") $(if $(MINUTES),--minutes "$$MINUTES")
bench: export MATERIAL := $(MATERIAL)
bench: export RIVALS := $(RIVALS)
bench: export MINUTES := $(MINUTES)

#: make microbenchmarks         instructions of frequent operations, against Benchmarks/instructions.json
microbenchmarks:
	@Scripts/packages build microbenchmarks
	@Scripts/microbenchmarks

#: make install [PREFIX=/usr/local] [DESTDIR=…]
install:
	@Scripts/packages build
	@Scripts/optional
	@Scripts/build
	@$(MAKE) --no-print-directory install-files

# Installs the built programs of the folder PROGRAMS.
install-files:
	install -d $(bindir) $(mandir)/man1 $(mandir)/man5 $(mandir)/man7 $(mandir)/man8 $(docdir)
	install -m 755 $(programs:%=$(PROGRAMS)/%) $(bindir)
	install -d $(libexecdir)
	install -m 755 $(PROGRAMS)/nowplaying-tags $(libexecdir)
	if [ -e $(PROGRAMS)/nowplaying-decode ]; then install -m 755 $(PROGRAMS)/nowplaying-decode $(libexecdir); fi
	for section in 1 5 7 8; do $(call install-text,etc/man/*.$$section,$(mandir)/man$$section,644) done
	install -d $(includedir)
	install -m 644 etc/include/nowplayingd/clock.h $(includedir)
	install -d $(bashdir) $(zshdir)
	install -d $(fishdir)
	$(call install-completion,bash,$(bashdir)/nowplayingctl)
	$(call install-completion,zsh,$(zshdir)/_nowplayingctl)
	$(call install-completion,fish,$(fishdir)/nowplayingctl.fish)
	$(call install-text,README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE $(wildcard etc/*.conf),$(docdir),644)
	install -d $(docdir)/docs
	$(call install-text,docs/*.md,$(docdir)/docs,644)
	install -m 644 docs/*.png docs/*.jpg $(docdir)/docs
	install -d $(unitdir)/user $(unitdir)/system $(addprefix $(samples)/,hooks homeassistant node-red adapters)
	for unit in $(units); do \
	    sed 's|@bindir@|$(PREFIX)/bin|; s|@datadir@|$(PREFIX)/share|g' "etc/systemd/$$unit" > "$(unitdir)/$$unit" || exit 1; done
	install -D -m 644 etc/systemd/nowplayingd.catalog $(unitdir)/catalog/nowplayingd.catalog
	for file in $$(cd web && find . -type f ! -name package.json); do \
	    install -D -m 644 "web/$$file" "$(samples)/web/$$file" || exit 1; done
	find $(samples)/web -type f ! -name "*.png" ! -name "*.mp3" ! -name "*.gz" -exec gzip --best --no-name --keep --force {} +
	if [ -e $(PROGRAMS)/nowplayingd ]; then $(RUNNER) "$(PROGRAMS)/nowplayingd" --openrpc > $(samples)/openrpc.json; fi
	install -m 644 etc/sound/sound.pa $(samples)
	install -m 755 etc/sound/sound-pipewire $(samples)
	install -d $(samples)/pipewire/pipewire.conf.d
	sed 's|@datadir@|$(PREFIX)/share|' etc/sound/pipewire/pipewire.conf.d/nowplayingd.conf \
	    > $(samples)/pipewire/pipewire.conf.d/nowplayingd.conf
	for file in $$(cd etc/sound && find wireplumber* -type f); do \
	    install -D -m 644 "etc/sound/$$file" "$(samples)/$$file" || exit 1; done
	install -m 755 $(wildcard etc/hooks/*.sample) $(samples)/hooks
	install -m 644 $(wildcard etc/hooks/*.conf) $(samples)/hooks
	install -m 755 $(filter-out %.md,$(wildcard etc/adapters/*)) $(samples)/adapters
	install -m 644 etc/adapters/README.md $(samples)/adapters
	install -d $(samples)/recipes
	$(call install-text,$(filter-out %.md %.conf %.service %.c,$(wildcard etc/recipes/*)),$(samples)/recipes,755)
	$(call install-text,$(wildcard etc/recipes/*.md etc/recipes/*.conf etc/recipes/*.service etc/recipes/*.c),$(samples)/recipes,644)
	install -d $(busdir)
	install -m 644 $(buspolicy) $(busdir)
	install -d $(ufwdir)
	install -m 644 etc/ufw/nowplayingd $(ufwdir)
	for file in $$(cd etc/homeassistant && find -L . -type f ! -name "*.pyc"); do \
	    install -D -m 644 "etc/homeassistant/$$file" "$(samples)/homeassistant/$$file" || exit 1; done
	install -m 644 etc/node-red/*.json $(samples)/node-red

#: make deb [ARCH=arm64]        build/nowplayingd_VERSION_ARCH.deb, for: apt install ./build/nowplayingd_*.deb
#                             (ARCH=arm64 on amd64: for Debian 13 on a Raspberry Pi, to try it)
ifeq ($(filter-out $(or $(shell dpkg --print-architecture 2> /dev/null),$(ARCH)),$(ARCH)),)
deb:
	@Scripts/packages $(if $(ONLY),play,build) deb
	@Scripts/optional
	@Scripts/build $(if $(ONLY),$(ONLY) nowplaying-tags $$(pkg-config --exists libavformat libseccomp libcurl libebur128 && echo nowplaying-decode))
	@Scripts/deb
deb: export ONLY := $(ONLY)
else ifeq ($(ARCH),arm64)
deb:
	@Scripts/packages cross $(if $(COMPILER),bare)
	@Scripts/cross
deb: export COMPILER := $(COMPILER)
else
deb:
	@echo "cannot build for $(ARCH) on this machine: ARCH=arm64 is the only other processor" >&2; exit 2
endif

#: make wheel                   build/aionowplayingd-VERSION-py3-none-any.whl, the client for Python (needs no built program)
wheel:
	@Scripts/packages wheel
	@Scripts/wheel

#: make newcomer [RELEASE=trixie] [SHORT=yes]  a bare Debian 12 (bookworm) or 13: clone, run, test, install, play (as root)
newcomer:
	@(Scripts/packages bare || exit 77; Scripts/newcomer $(or $(RELEASE),trixie) $(if $(SHORT),short)) || { \
	    status=$$?; [ $$status -eq 77 ] && echo "NOT TESTED: $(or $(RELEASE),trixie) in a bare system" || exit $$status; }

#: make box-arm64 [SHORT=yes]   Debian 13 on an emulated arm64 machine: install the arm64 package, play, check (as root, otherwise idle)
box-arm64:
	@Scripts/packages cross emulator
	@Scripts/box-arm64 $(if $(SHORT),short)

#: make uninstall [PREFIX=/usr/local] [DESTDIR=…]
uninstall:
	rm -f $(fishdir)/nowplayingctl.fish $(bashdir)/nowplayingctl $(zshdir)/_nowplayingctl
	rm -f $(programs:%=$(bindir)/%) $(units:%=$(unitdir)/%) $(unitdir)/catalog/nowplayingd.catalog
	rm -f $(foreach page,$(notdir $(wildcard etc/man/*.[1578])),$(mandir)/man$(subst .,,$(suffix $(page)))/$(page))
	rm -f $(busdir)/$(notdir $(buspolicy)) $(ufwdir)/nowplayingd
	rm -rf $(docdir) $(libexecdir) $(samples) $(includedir)

#: make clean
clean:
	rm -rf .build .build-homeassistant build Sources/SystemLibraries/CLibraryNames/include/Names.h
