/* Libraries that open at first use, or when a thread requests it earlier. The called functions have the names and types of
   the libraries' own headers. Each opens its library, and returns zero if the library is not there.

   Each function below returns 1 if the library is there and now open, else 0. Any thread; reads files. */
#pragma once

int late_pulse_is_there(void);
int late_flac_is_there(void);
int late_mpg123_is_there(void);
int late_sndfile_is_there(void);
int late_vorbis_is_there(void);
int late_opus_is_there(void);
/* Opens all but libpulse: for a process that cannot open files later. */
int late_decoders_are_there(void);
