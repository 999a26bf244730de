import AudioCore
import CPulse
import Glibc
import LinuxSystem

extension PulseStream {
    /// Registers our callbacks at libpulse.
    func setCallbacks(_ stream: OpaquePointer) {
        let address = Unmanaged.passUnretained(self).toOpaque()
        pa_stream_set_state_callback(stream, streamStateChanged, address)
        pa_stream_set_write_callback(stream, streamAsks, address)
        pa_stream_set_started_callback(stream, streamDidStart, address)
        pa_stream_set_underflow_callback(stream, streamDidUnderflow, address)
        pa_stream_set_suspended_callback(stream, streamDidSuspend, address)
        pa_stream_set_moved_callback(stream, streamDidMove, address)
        pa_stream_set_buffer_attr_callback(stream, streamBufferingChanged, address)
        pa_stream_set_event_callback(stream, streamIsAsked, address)
    }

    /// Ends all callbacks; their address is not used after this.
    func clearCallbacks(_ stream: OpaquePointer) {
        pa_stream_set_state_callback(stream, nil, nil)
        pa_stream_set_write_callback(stream, nil, nil)
        pa_stream_set_started_callback(stream, nil, nil)
        pa_stream_set_underflow_callback(stream, nil, nil)
        pa_stream_set_suspended_callback(stream, nil, nil)
        pa_stream_set_moved_callback(stream, nil, nil)
        pa_stream_set_buffer_attr_callback(stream, nil, nil)
        pa_stream_set_event_callback(stream, nil, nil)
    }

    fileprivate func stateChanged() {
        guard let stream else { return }
        switch pa_stream_get_state(stream) {
        case PA_STREAM_READY: becameReady()
        case PA_STREAM_FAILED, PA_STREAM_TERMINATED:
            // If the connection fails too, the output reports it; otherwise the stream does.
            guard let connection, pa_context_get_state(connection.context) == PA_CONTEXT_READY else { return }
            let error = streamError()
            output.streamDied(self, error)
            failLater(error)
        default: break
        }
    }

    fileprivate func moved() {
        guard isReady else { return }
        readBuffering()
        if !isAnnouncement { output.streamMoved(self) }
        delegate?.streamMoved(self)
    }

    fileprivate func isAsked(_ event: String) {
        guard isReady, !isAnnouncement, [PA_STREAM_EVENT_REQUEST_CORK, PA_STREAM_EVENT_REQUEST_UNCORK].contains(event)
        else { return }
        serverAsks(cork: event == PA_STREAM_EVENT_REQUEST_CORK)
    }

    /// Reports the program for which the server requests silence; nil: the request was withdrawn.
    func reportRequest(_ name: String?) { delegate?.streamIsAskedToCork(self, for: name) }

    fileprivate func bufferingChanged() {
        guard isReady else { return }
        readBuffering()
        delegate?.streamMoved(self)
    }
}

/// Releases libpulse's stream. A stream that the server has not made yet cannot be cancelled: it ends as soon as the
/// server has made it, or it would stay at the server as long as the connection.
func abandon(_ stream: OpaquePointer) {
    if pa_stream_get_state(stream) == PA_STREAM_CREATING {
        pa_stream_set_state_callback(stream, abandonedStreamChanged, nil)
    } else {
        pa_stream_disconnect(stream)
        pa_stream_unref(stream)
    }
}

private func abandonedStreamChanged(_ stream: OpaquePointer?, _: UnsafeMutableRawPointer?) {
    guard let stream, pa_stream_get_state(stream) != PA_STREAM_CREATING else { return }
    pa_stream_set_state_callback(stream, nil, nil)
    if pa_stream_get_state(stream) == PA_STREAM_READY { pa_stream_disconnect(stream) }
    pa_stream_unref(stream)
}

/// The wall clock in microseconds, with which libpulse stamps answers.
func wallClockMicroseconds() -> Int64 {
    var now = timeval()
    gettimeofday(&now, nil)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_usec)
}

/// Enters the loop with the stream of a callback's context, and records the server's message.
private func enter(_ context: UnsafeMutableRawPointer?, _ body: @PlayerLoop (PulseStream) -> Void) {
    let stream = Unmanaged<PulseStream>.fromOpaque(context!).takeUnretainedValue()
    PlayerLoop.assumeIsolated {
        stream.connection?.answered()
        body(stream)
    }
}

private func streamStateChanged(_: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
    enter(context) { $0.stateChanged() }
}

private func streamAsks(_: OpaquePointer?, _: Int, _ context: UnsafeMutableRawPointer?) {
    enter(context) { if $0.isReady { $0.delegate?.streamNeedsFrames($0) } }
}

private func streamDidStart(_: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
    enter(context) { $0.delegate?.streamStarted($0) }
}

private func streamDidUnderflow(_: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
    enter(context) { $0.delegate?.streamUnderflowed($0) }
}

private func streamDidSuspend(_: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
    enter(context) { $0.becameSuspended() }
}

private func streamDidMove(_: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
    enter(context) { $0.moved() }
}

private func streamIsAsked(
    _: OpaquePointer?, _ name: UnsafePointer<CChar>?, _: OpaquePointer?, _ context: UnsafeMutableRawPointer?
) {
    let event = cleanText(name)
    enter(context) { $0.isAsked(event) }
}

private func streamBufferingChanged(_: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
    enter(context) { $0.bufferingChanged() }
}
