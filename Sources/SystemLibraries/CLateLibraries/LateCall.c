#include "LateCall.h"
#include "CLateLibraries.h"
#include <dlfcn.h>

void *late_open(const char *name) { return dlopen(name, RTLD_LAZY | RTLD_LOCAL); }

void *late_library(struct late_library *library) {
    pthread_once(&library->once, library->open);
    return library->handle;
}

void *late_function(struct late_library *library, const char *name) {
    void *handle = late_library(library);
    return handle ? dlsym(handle, name) : NULL;
}

int late_decoders_are_there(void) {
    int flac = late_flac_is_there(), mpg123 = late_mpg123_is_there();
    int sndfile = late_sndfile_is_there(), vorbis = late_vorbis_is_there();
    int opus = late_opus_is_there();
    return flac && mpg123 && sndfile && vorbis && opus;
}
