/* libpulse: it brings ten libraries with it, from D-Bus to X11. */
#include "CLateLibraries.h"
#include "LateCall.h"
#include <CLibraryNames.h>
#include <pulse/pulseaudio.h>

LATE_LIBRARY(LIBRARY_PULSE_FILE)

int late_pulse_is_there(void) { return late_library(&library) != NULL; }

CALL(pa_channel_map *, pa_channel_map_init, (pa_channel_map *a), (a))
CALL(int, pa_context_connect, (pa_context *a, const char *b, pa_context_flags_t c, const pa_spawn_api *d), (a, b, c, d))
CALL(void, pa_context_disconnect, (pa_context *a), (a))
CALL(int, pa_context_errno, (const pa_context *a), (a))
CALL(pa_operation *, pa_context_get_module_info, (pa_context *a, uint32_t b, pa_module_info_cb_t c, void *d), (a, b, c, d))
CALL(pa_operation *, pa_context_get_server_info, (pa_context *a, pa_server_info_cb_t b, void *c), (a, b, c))
CALL(pa_operation *, pa_context_get_sink_info_by_index, (pa_context *a, uint32_t b, pa_sink_info_cb_t c, void *d), (a, b, c, d))
CALL(pa_operation *, pa_context_get_sink_info_by_name, (pa_context *a, const char *b, pa_sink_info_cb_t c, void *d), (a, b,
     c, d))
CALL(pa_operation *, pa_context_get_sink_info_list, (pa_context *a, pa_sink_info_cb_t b, void *c), (a, b, c))
CALL(pa_operation *, pa_context_get_sink_input_info, (pa_context *a, uint32_t b, pa_sink_input_info_cb_t c, void *d), (a, b,
     c, d))
CALL(pa_operation *, pa_context_get_sink_input_info_list, (pa_context *a, pa_sink_input_info_cb_t b, void *c), (a, b, c))
CALL(pa_context_state_t, pa_context_get_state, (const pa_context *a), (a))
CALL(pa_operation *, pa_context_move_sink_input_by_name, (pa_context *a, uint32_t b, const char *c,
     pa_context_success_cb_t d, void *e), (a, b, c, d, e))
CALL(int, pa_context_is_local, (const pa_context *a), (a))
CALL(pa_context *, pa_context_new, (pa_mainloop_api *a, const char *b), (a, b))
CALL(pa_context *, pa_context_new_with_proplist, (pa_mainloop_api *a, const char *b, const pa_proplist *c), (a, b, c))
CALL(pa_operation *, pa_context_set_sink_input_mute, (pa_context *a, uint32_t b, int c, pa_context_success_cb_t d, void *e),
     (a, b, c, d, e))
CALL(pa_operation *, pa_context_set_sink_input_volume, (pa_context *a, uint32_t b, const pa_cvolume *c,
     pa_context_success_cb_t d, void *e), (a, b, c, d, e))
CALL(void, pa_context_set_state_callback, (pa_context *a, pa_context_notify_cb_t b, void *c), (a, b, c))
CALL(void, pa_context_set_subscribe_callback, (pa_context *a, pa_context_subscribe_cb_t b, void *c), (a, b, c))
CALL(pa_operation *, pa_context_subscribe, (pa_context *a, pa_subscription_mask_t b, pa_context_success_cb_t c, void *d), (a,
     b, c, d))
CALL(void, pa_context_unref, (pa_context *a), (a))
CALL(int, pa_cvolume_channels_equal_to, (const pa_cvolume *a, pa_volume_t b), (a, b))
CALL(pa_volume_t, pa_cvolume_max, (const pa_cvolume *a), (a))
CALL(pa_cvolume *, pa_cvolume_set, (pa_cvolume *a, unsigned int b, pa_volume_t c), (a, b, c))
CALL(int, pa_cvolume_valid, (const pa_cvolume *a), (a))
CALL(void, pa_operation_cancel, (pa_operation *a), (a))
CALL(void, pa_operation_unref, (pa_operation *a), (a))
CALL(void, pa_proplist_free, (pa_proplist *a), (a))
CALL(const char *, pa_proplist_gets, (const pa_proplist *a, const char *b), (a, b))
CALL(pa_proplist *, pa_proplist_new, (void), ())
CALL(int, pa_proplist_sets, (pa_proplist *a, const char *b, const char *c), (a, b, c))
CALL(int, pa_stream_connect_playback, (pa_stream *a, const char *b, const pa_buffer_attr *c, pa_stream_flags_t d,
     const pa_cvolume *e, pa_stream *f), (a, b, c, d, e, f))
CALL(pa_operation *, pa_stream_cork, (pa_stream *a, int b, pa_stream_success_cb_t c, void *d), (a, b, c, d))
CALL(int, pa_stream_disconnect, (pa_stream *a), (a))
CALL(pa_operation *, pa_stream_drain, (pa_stream *a, pa_stream_success_cb_t b, void *c), (a, b, c))
CALL(pa_operation *, pa_stream_flush, (pa_stream *a, pa_stream_success_cb_t b, void *c), (a, b, c))
CALL(const pa_buffer_attr *, pa_stream_get_buffer_attr, (pa_stream *a), (a))
CALL(pa_context *, pa_stream_get_context, (const pa_stream *a), (a))
CALL(uint32_t, pa_stream_get_device_index, (const pa_stream *a), (a))
CALL(uint32_t, pa_stream_get_index, (const pa_stream *a), (a))
CALL(pa_stream_state_t, pa_stream_get_state, (const pa_stream *a), (a))
CALL(const pa_timing_info *, pa_stream_get_timing_info, (pa_stream *a), (a))
CALL(int, pa_stream_is_suspended, (const pa_stream *a), (a))
CALL(pa_stream *, pa_stream_new_with_proplist, (pa_context *a, const char *b, const pa_sample_spec *c,
     const pa_channel_map *d, pa_proplist *e), (a, b, c, d, e))
CALL(pa_operation *, pa_stream_proplist_update, (pa_stream *a, pa_update_mode_t b, pa_proplist *c, pa_stream_success_cb_t d,
     void *e), (a, b, c, d, e))
CALL(void, pa_stream_set_buffer_attr_callback, (pa_stream *a, pa_stream_notify_cb_t b, void *c), (a, b, c))
CALL(void, pa_stream_set_event_callback, (pa_stream *a, pa_stream_event_cb_t b, void *c), (a, b, c))
CALL(void, pa_stream_set_moved_callback, (pa_stream *a, pa_stream_notify_cb_t b, void *c), (a, b, c))
CALL(void, pa_stream_set_started_callback, (pa_stream *a, pa_stream_notify_cb_t b, void *c), (a, b, c))
CALL(void, pa_stream_set_state_callback, (pa_stream *a, pa_stream_notify_cb_t b, void *c), (a, b, c))
CALL(void, pa_stream_set_suspended_callback, (pa_stream *a, pa_stream_notify_cb_t b, void *c), (a, b, c))
CALL(void, pa_stream_set_underflow_callback, (pa_stream *a, pa_stream_notify_cb_t b, void *c), (a, b, c))
CALL(void, pa_stream_set_write_callback, (pa_stream *a, pa_stream_request_cb_t b, void *c), (a, b, c))
CALL(void, pa_stream_unref, (pa_stream *a), (a))
CALL(pa_operation *, pa_stream_update_timing_info, (pa_stream *a, pa_stream_success_cb_t b, void *c), (a, b, c))
CALL(size_t, pa_stream_writable_size, (const pa_stream *a), (a))
CALL(int, pa_stream_write, (pa_stream *a, const void *b, size_t c, pa_free_cb_t d, int64_t e, pa_seek_mode_t f), (a, b, c, d,
     e, f))
CALL(int, pa_stream_write_ext_free, (pa_stream *a, const void *b, size_t c, pa_free_cb_t d, void *e, int64_t f,
     pa_seek_mode_t g), (a, b, c, d, e, f, g))
CALL(const char *, pa_strerror, (int a), (a))
