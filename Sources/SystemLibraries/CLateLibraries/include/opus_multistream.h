/* opusfile.h names it without the folder that both lie in. */
#pragma once
#include <opus/opus_multistream.h>
