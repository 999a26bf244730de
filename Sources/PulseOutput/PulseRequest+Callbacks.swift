import CPulse
import LinuxSystem

// The callbacks of libpulse's requests. They run on the loop's thread, outside any isolation that the compiler knows;
// each copies the server's data and enters the loop.

/// Enters the loop with the request of a callback's context.
private func enter(_ context: UnsafeMutableRawPointer?, _ body: @PlayerLoop (PulseRequest) -> Void) {
    let request = Unmanaged<PulseRequest>.fromOpaque(context!).takeUnretainedValue()
    PlayerLoop.assumeIsolated { body(request) }
}

/// Handles an answer of a list: an entry, the end (positive) or a failure (negative).
private func list(
    _ connection: OpaquePointer?, _ end: Int32, _ context: UnsafeMutableRawPointer?, _ answer: PulseRequest.Answer?
) {
    let error = end < 0 ? pa_context_errno(connection) : 0
    enter(context) { request in
        if end < 0 {
            request.failed(error)
        } else if end > 0 {
            request.finished(nil)
        } else if let answer {
            request.received(answer)
        }
    }
}

/// `pa_context_success_cb_t`
func contextSucceeded(_ connection: OpaquePointer?, _ success: Int32, _ context: UnsafeMutableRawPointer?) {
    let error = success == 0 ? pa_context_errno(connection) : 0
    enter(context) { success != 0 ? $0.finished(.done(true)) : $0.failed(error) }
}

/// `pa_stream_success_cb_t`
func streamSucceeded(_ stream: OpaquePointer?, _ success: Int32, _ context: UnsafeMutableRawPointer?) {
    contextSucceeded(pa_stream_get_context(stream), success, context)
}

/// `pa_server_info_cb_t`
func serverInfoArrived(
    _ connection: OpaquePointer?, _ info: UnsafePointer<pa_server_info>?, _ context: UnsafeMutableRawPointer?
) {
    let error = pa_context_errno(connection)
    let answer = info.map { info in
        PulseServerInfo(
            name: cleanText(info.pointee.server_name), defaultSink: cleanText(info.pointee.default_sink_name))
    }
    enter(context) { request in
        if let answer { request.finished(.server(answer)) } else { request.failed(error) }
    }
}

/// `pa_sink_info_cb_t`
func sinkInfoArrived(
    _ connection: OpaquePointer?, _ info: UnsafePointer<pa_sink_info>?, _ end: Int32,
    _ context: UnsafeMutableRawPointer?
) {
    list(connection, end, context, info.map { .sink(PulseSinkInfo($0.pointee)) })
}

/// `pa_module_info_cb_t`
func moduleInfoArrived(
    _ connection: OpaquePointer?, _ info: UnsafePointer<pa_module_info>?, _ end: Int32,
    _ context: UnsafeMutableRawPointer?
) {
    list(connection, end, context, info.map { .module(arguments: cleanText($0.pointee.argument)) })
}

/// `pa_sink_input_info_cb_t`
func sinkInputInfoArrived(
    _ connection: OpaquePointer?, _ info: UnsafePointer<pa_sink_input_info>?, _ end: Int32,
    _ context: UnsafeMutableRawPointer?
) {
    let answer = info.flatMap { info -> PulseRequest.Answer? in
        var volume = info.pointee.volume
        guard pa_cvolume_valid(&volume) != 0 else { return nil }
        func property(_ name: String) -> String { cleanText(pa_proplist_gets(info.pointee.proplist, name)) }
        let isFull = pa_cvolume_channels_equal_to(&volume, UInt32(PA_VOLUME_NORM)) != 0
        return .sinkInput(
            PulseStreamInfo(
                index: info.pointee.index, sink: info.pointee.sink, application: property(PA_PROP_APPLICATION_NAME),
                binary: property(PA_PROP_APPLICATION_PROCESS_BINARY), role: property(PA_PROP_MEDIA_ROLE),
                isCorked: info.pointee.corked != 0, volume: pa_cvolume_max(&volume), isMuted: info.pointee.mute != 0,
                isNeutral: isFull && info.pointee.mute == 0))
    }
    list(connection, end, context, answer)
}
