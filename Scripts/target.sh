# Scripts that build read this file. With NOWPLAYING_CROSS_ROOT, a folder that Scripts/sysroot made, they build for Debian 13 on
# arm64; otherwise for this machine. It sets:
#   system          the root of the system that the programs are for ("" is this one)
#   architecture    its name in Debian
#   clang_flags, swift_flags, dpkg_flags    what these tools need for it
#   runner          starts a program for it
# shellcheck shell=bash disable=SC2034
system= architecture= clang_flags=() swift_flags=() dpkg_flags=() runner=
if [ -n "${NOWPLAYING_CROSS_ROOT:-}" ]; then
    system=$NOWPLAYING_CROSS_ROOT/root
    architecture=arm64
    clang_flags=(--target=aarch64-linux-gnu "--sysroot=$system")
    swift_flags=(--swift-sdks-path "$NOWPLAYING_CROSS_ROOT/sdks" --swift-sdk nowplayingd-arm64)
    dpkg_flags=("--admindir=$system/var/lib/dpkg")
    runner="qemu-aarch64 -L $system"
    export PKG_CONFIG_LIBDIR=$system/usr/lib/aarch64-linux-gnu/pkgconfig:$system/usr/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$system
    # Otherwise this folder would come before that of the archives.
    export PKG_CONFIG_PATH=$PKG_CONFIG_LIBDIR PKG_CONFIG_SYSTEM_LIBRARY_PATH=$system/usr/lib/aarch64-linux-gnu
elif command -v dpkg > /dev/null; then
    architecture=$(dpkg --print-architecture)
fi
