/* The module has nothing but names; the package manager wants a source. */
#include "CLibraryNames.h"
