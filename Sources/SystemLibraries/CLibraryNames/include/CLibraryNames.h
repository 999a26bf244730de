/* Names of the shared libraries that open late, and of their Debian packages: LIBRARY_FLAC_FILE is the name with version that
   the dynamic linker takes, LIBRARY_FLAC_PACKAGE the package that has the file. Scripts/library-names reads both from the
   system that builds, so that they agree with the headers that are compiled. */
#pragma once

#if __has_include("Names.h")
#include "Names.h"
#else
#error "the names of the libraries are missing; type: Scripts/library-names"
#endif
