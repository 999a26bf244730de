import CLinux
import Glibc
import LinuxSystem
import NowPlaying

/// The run of a hook: its output, its end, its deadline.
@PlayerLoop final class HookRun {
    private let process: HookProcess
    private let event: String
    private let loop: EventLoop
    private let began = EventLoop.now
    private let beganWall = HookRun.wall
    private let done: @PlayerLoop (HookResult) -> Void
    private var output: [UInt8] = []
    private var received = 0
    private var ending: EventSource?
    private var reading: EventSource?
    private var deadline: EventSource?
    private var isLate = false

    /// Bytes of output that are read in all; a hook that prints more finds its standard output closed.
    private static let maximumOutput = 64 << 10
    /// Bytes that are kept from the end of the output.
    private static let keptOutput = 4096
    /// Seconds between SIGTERM and SIGKILL.
    private static let grace = 2.0

    /// Watches a process; `done` is called once, unless the run is abandoned.
    init(
        _ process: HookProcess, _ event: String, _ loop: EventLoop, timeout: Double,
        _ done: @escaping @PlayerLoop (HookResult) -> Void
    ) {
        self.process = process
        self.event = event
        self.loop = loop
        self.done = done
        reading = loop.watch(process.output, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in read() }
        ending = loop.watch(process.descriptor, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in ended() }
        deadline = loop.deadline(began.advanced(bySeconds: timeout)) { [unowned self] in late() }
    }

    /// Kills the whole group at once, without a call of `done`.
    func abandon() {
        _ = process.collect()
        release()
    }

    /// Seconds of Unix time.
    nonisolated static var wall: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func late() {
        isLate = true
        process.signal(SIGTERM)
        deadline = loop.deadline(EventLoop.now.advanced(bySeconds: HookRun.grace)) { [unowned self] in
            process.signal(SIGKILL)
        }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        let count = Glibc.read(process.output, &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0, received < HookRun.maximumOutput else {
            stopReading()
            return
        }
        received += count
        output = Array((output + buffer[..<count]).suffix(HookRun.keptOutput))
    }

    private func ended() {
        // The last lines may still be in the pipe. Processes that hold the pipe open are killed below.
        while reading != nil, hasOutput { read() }
        let status = process.collect()
        let end = isLate ? HookResult.End.timedOut : HookResult.end(status)
        let result = HookResult(
            event: event, wall: beganWall, seconds: EventLoop.now.seconds(since: began), end: end, output: output)
        release()
        done(result)
    }

    private var hasOutput: Bool {
        var wait = pollfd(fd: process.output, events: Int16(POLLIN), revents: 0)
        return poll(&wait, 1, 0) > 0
    }

    /// Releases the source before it closes the descriptor: another file may get the number at once.
    private func stopReading() {
        guard let reading else { return }
        self.reading = nil
        reading.release()
        close(process.output)
    }

    private func release() {
        stopReading()
        ending?.release()
        deadline?.release()
        close(process.descriptor)
    }
}
