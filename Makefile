# Builds the engine as test frameworks expect it (OpenBench, fishtest): `make EXE=name [EVALFILE=network.pb.gz]` leaves `name` here.
#
# EVALFILE, from this folder on, is built in instead of crates/zeitnot-network/networks/zeitnot-small.pb.gz, and plays.
# The engine lists all options under `uci`, as with --show-hidden: the frameworks send only what is listed, and give no flags.
# Everything else is cargo's.

EXE      ?= zeitnot
EVALFILE ?=
CARGO    ?= cargo
SUFFIX   := $(if $(filter Windows_NT,$(OS)),.exe)
TARGET   := $(or $(CARGO_TARGET_DIR),target)

all:
	ZEITNOT_SHOW_HIDDEN=1 $(if $(EVALFILE),ZEITNOT_EVALFILE="$(EVALFILE)") $(CARGO) build --release --locked --bin zeitnot
	cp "$(TARGET)/release/zeitnot$(SUFFIX)" "$(EXE:$(SUFFIX)=)$(SUFFIX)"

# The archives of a release in `dist`, for this system or the TRIPLE that is given.
dist:
	release/build $(TRIPLE)

clean:
	$(CARGO) clean

.PHONY: all dist clean
.DEFAULT_GOAL := all
