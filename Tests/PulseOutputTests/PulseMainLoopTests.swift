import CPulse
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

@testable import PulseOutput

/// Record and orders of a callback of the interface; reached through the callback's context.
@PlayerLoop private final class Witness {
    var calls = 0
    var destroyed = 0
    var flags: [UInt32] = []
    var limit = Int.max
    /// The present event of `readAnew`, and the file that takes the place of its first one.
    var event: OpaquePointer?
    var other: Int32 = -1
    let main: PulseMainLoop
    private var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    init() { main = PulseMainLoop(EventLoop.current) }

    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    func called() {
        calls += 1
        if let (count, continuation) = waiting, calls >= count {
            waiting = nil
            continuation.resume()
        }
    }

    func untilCalled(_ count: Int) async {
        if calls >= count { return }
        await withCheckedContinuation { waiting = (count, $0) }
    }
}

/// Enters the loop from a callback whose context is a witness.
private func enter(_ context: UnsafeMutableRawPointer?, _ body: @PlayerLoop (Witness) -> Void) {
    let witness = Unmanaged<Witness>.fromOpaque(context!).takeUnretainedValue()
    PlayerLoop.assumeIsolated { body(witness) }
}

/// A wall clock time so many milliseconds from now.
private func wall(inMilliseconds milliseconds: Int) -> timeval {
    var now = timeval()
    gettimeofday(&now, nil)
    let microseconds = Int(now.tv_usec) + milliseconds * 1000
    return timeval(tv_sec: now.tv_sec + microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
}

private let ioFreed: pa_io_event_destroy_cb_t = { _, _, context in enter(context) { $0.destroyed += 1 } }

/// Frees its event, reads a byte, and makes another event for the descriptor.
private let readAnew: pa_io_event_cb_t = { api, event, descriptor, _, context in
    api!.pointee.io_free(event)
    var byte: UInt8 = 0
    read(descriptor, &byte, 1)
    enter(context) { witness in
        witness.flags.append(UInt32(byte))
        // The number of the first file becomes that of the other one.
        if witness.flags.count == 3 { dup2(witness.other, descriptor) }
        let api = witness.main.api
        witness.event = api.pointee.io_new(api, descriptor, PA_IO_EVENT_INPUT, readAnew, witness.context)
        api.pointee.io_set_destroy(witness.event, ioFreed)
        witness.called()
    }
}

@Suite(.timeLimit(.minutes(5))) struct PulseMainLoopTests {
    init() { LoopThread.start() }

    @Test("a descriptor is reported readable, can be freed inside its own callback, and its end is reported")
    @PlayerLoop func descriptorFreedInsideItsCallback() async {
        let witness = Witness()
        let api = witness.main.api
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let event = api.pointee.io_new(
            api, ends[0], PA_IO_EVENT_INPUT,
            { api, event, _, flags, context in
                api!.pointee.io_free(event)
                enter(context) {
                    $0.flags.append(flags.rawValue)
                    $0.called()
                }
            }, witness.context)
        api.pointee.io_set_destroy(event, ioFreed)
        write(ends[1], "x", 1)
        await witness.untilCalled(1)
        #expect(witness.flags == [PA_IO_EVENT_INPUT.rawValue])
        #expect(witness.destroyed == 1)
        close(ends[0])
        close(ends[1])
    }

    /// libpulse frees the event of its connection before each read, and makes another one after that.
    @Test(
        "a descriptor whose event is freed and made anew in its callback is still watched, also as another file",
        arguments: [true, false])
    @PlayerLoop func descriptorOfEventAfterEvent(isSocket: Bool) async {
        let witness = Witness()
        let api = witness.main.api
        var (ends, others): ([Int32], [Int32]) = ([0, 0], [0, 0])
        let stream = Int32(SOCK_STREAM.rawValue)
        let made =
            isSocket
            ? [socketpair(AF_UNIX, stream, 0, &ends), socketpair(AF_UNIX, stream, 0, &others)]
            : [pipe(&ends), pipe(&others)]
        #expect(made == [0, 0])
        witness.other = others[0]
        witness.event = api.pointee.io_new(api, ends[0], PA_IO_EVENT_INPUT, readAnew, witness.context)
        api.pointee.io_set_destroy(witness.event, ioFreed)
        for (number, end) in [ends[1], ends[1], ends[1], others[1]].enumerated() {
            var byte = UInt8(number)
            write(end, &byte, 1)
            await witness.untilCalled(number + 1)
        }
        #expect(witness.flags == [0, 1, 2, 3])
        api.pointee.io_free(witness.event)
        #expect(witness.destroyed == 5)
        for end in [ends[0], ends[1], others[0], others[1]] { close(end) }
    }

    /// The server holds the other end of a channel in shared memory for a moment longer than libpulse.
    @Test("a descriptor that is closed inside its own callback is not reported again while its file is open elsewhere")
    @PlayerLoop func closedDescriptorOfOpenFile() async {
        let witness = Witness()
        let api = witness.main.api
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let elsewhere = dup(ends[0])
        _ = api.pointee.io_new(
            api, ends[0], PA_IO_EVENT_INPUT,
            { api, event, descriptor, _, context in
                api!.pointee.io_free(event)
                close(descriptor)
                enter(context) { $0.called() }
            }, witness.context)
        // The byte stays unread.
        write(ends[1], "x", 1)
        await witness.untilCalled(1)
        var others: [Int32] = [0, 0]
        #expect(pipe(&others) == 0)
        let event = api.pointee.io_new(
            api, others[0], PA_IO_EVENT_INPUT,
            { api, event, descriptor, _, context in
                var byte: UInt8 = 0
                read(descriptor, &byte, 1)
                enter(context) { $0.called() }
            }, witness.context)
        for number in 2...20 {
            write(others[1], "x", 1)
            await witness.untilCalled(number)
        }
        #expect(witness.calls == 20)
        api.pointee.io_free(event)
        for end in [elsewhere, ends[1], others[0], others[1]] { close(end) }
    }

    @Test("one descriptor can be watched by two events, and switching one off leaves the other")
    @PlayerLoop func descriptorTwice() async {
        let reader = Witness()
        let writer = Witness()
        var ends: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let callback: pa_io_event_cb_t = { api, event, _, flags, context in
            api!.pointee.io_enable(event, PA_IO_EVENT_NULL)
            enter(context) {
                $0.flags.append(flags.rawValue)
                $0.called()
            }
        }
        let api = reader.main.api
        let input = api.pointee.io_new(api, ends[0], PA_IO_EVENT_INPUT, callback, reader.context)
        let output = writer.main.api.pointee.io_new(
            writer.main.api, ends[0], PA_IO_EVENT_OUTPUT, callback, writer.context)
        await writer.untilCalled(1)
        #expect(reader.calls == 0)
        write(ends[1], "x", 1)
        await reader.untilCalled(1)
        #expect(reader.flags == [PA_IO_EVENT_INPUT.rawValue])
        #expect(writer.flags == [PA_IO_EVENT_OUTPUT.rawValue])
        close(ends[1])
        // The other end is gone: reported although nothing is requested, as poll does.
        await reader.untilCalled(2)
        #expect(reader.flags[1] & PA_IO_EVENT_HANGUP.rawValue != 0)
        api.pointee.io_free(input)
        api.pointee.io_free(output)
        close(ends[0])
    }

    @Test("a deadline of the wall clock comes once, not before its time, and can be set again and taken back")
    @PlayerLoop func deadlines() async {
        let witness = Witness()
        let never = Witness()
        let api = witness.main.api
        let callback: pa_time_event_cb_t = { _, _, time, context in
            var now = timeval()
            gettimeofday(&now, nil)
            let early = (now.tv_sec, now.tv_usec) < (time!.pointee.tv_sec, time!.pointee.tv_usec)
            enter(context) {
                $0.flags.append(early ? 1 : 0)
                $0.called()
            }
        }
        var soon = wall(inMilliseconds: 20)
        var later = wall(inMilliseconds: 30)
        let cancelled = api.pointee.time_new(api, &soon, callback, never.context)
        let event = api.pointee.time_new(api, &soon, callback, witness.context)
        api.pointee.time_restart(cancelled, nil)
        await witness.untilCalled(1)
        api.pointee.time_restart(event, &later)
        await witness.untilCalled(2)
        #expect(witness.flags == [0, 0])
        #expect(never.calls == 0)
        api.pointee.time_set_destroy(event, { _, _, context in enter(context) { $0.destroyed += 1 } })
        api.pointee.time_free(event)
        api.pointee.time_free(cancelled)
        #expect(witness.destroyed == 1)
    }

    @Test("deferred work runs each turn while enabled, not while disabled, and can be freed inside its callback")
    @PlayerLoop func deferredWork() async {
        let witness = Witness()
        witness.limit = 3
        let other = Witness()
        let api = witness.main.api
        let event = api.pointee.defer_new(
            api,
            { api, event, context in
                enter(context) { $0.called() }
                let done = Unmanaged<Witness>.fromOpaque(context!).takeUnretainedValue()
                if PlayerLoop.assumeIsolated({ done.calls == done.limit }) {
                    api!.pointee.defer_enable(event, 0)
                }
            }, witness.context)
        await witness.untilCalled(3)
        let last = api.pointee.defer_new(
            api,
            { api, event, context in
                api!.pointee.defer_free(event)
                enter(context) { $0.called() }
            }, other.context)
        api.pointee.defer_set_destroy(last, { _, _, context in enter(context) { $0.destroyed += 1 } })
        await other.untilCalled(1)
        #expect(other.calls == 1)
        #expect(other.destroyed == 1)
        #expect(witness.calls == 3)
        api.pointee.defer_enable(event, 1)
        await witness.untilCalled(4)
        api.pointee.defer_free(event)
    }

    @Test("a context on our loop meets the state of a server that is not there")
    @PlayerLoop func contextWithoutServer() async {
        let witness = Witness()
        let context = pa_context_new(witness.main.api, "test")
        pa_context_set_state_callback(
            context,
            { context, data in
                guard pa_context_get_state(context) == PA_CONTEXT_FAILED else { return }
                enter(data) { $0.called() }
            }, witness.context)
        let result = pa_context_connect(context, "unix:/nonexistent/native", PA_CONTEXT_NOAUTOSPAWN, nil)
        if result >= 0 { await witness.untilCalled(1) }
        #expect(pa_context_errno(context) == Int32(PA_ERR_CONNECTIONREFUSED.rawValue))
        pa_context_set_state_callback(context, nil, nil)
        pa_context_unref(context)
    }
}
