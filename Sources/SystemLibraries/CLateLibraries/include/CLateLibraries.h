/* Libraries that are opened when they are first needed, or when a thread asks for them ahead of that. The functions that we call
   have the names and types of the libraries' own headers; each opens its library, and returns zero if that is not there.

   1: the library is there, and is open from now on; 0: it is not. Any thread; reads files. */
#pragma once

int late_pulse_is_there(void);
int late_flac_is_there(void);
int late_mpg123_is_there(void);
int late_sndfile_is_there(void);
int late_vorbis_is_there(void);
int late_opus_is_there(void);
/* Opens all but libpulse: for a process that cannot open files later. */
int late_decoders_are_there(void);
