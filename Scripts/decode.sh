# Build scripts read this file. It sets NOWPLAYING_DECODE for Package.swift: 1 if nowplaying-decode, which needs FFmpeg,
# libcurl, libebur128 and libseccomp, can be built; else 0, with a message about the missing features.
if [ "${DECODE:-yes}" = yes ] && pkg-config --exists libavformat libavcodec libavutil libswresample libcurl libebur128 \
    libseccomp; then
    export NOWPLAYING_DECODE=1
else
    export NOWPLAYING_DECODE=0
    {
        echo "Building without nowplaying-decode: no internet radio, http:// and https://, AAC, ALAC, M4A, WMA, APE, WavPack,"
        echo "Musepack, TTA, Matroska and DSD; the loudness of files without tags is not measured. To have all that, install (as"
        echo "root) what it needs and build again:"
        echo "    apt-get install libavformat-dev libavcodec-dev libavutil-dev libswresample-dev libcurl4-openssl-dev" \
            "libebur128-dev libseccomp-dev"
    } >&2
fi
