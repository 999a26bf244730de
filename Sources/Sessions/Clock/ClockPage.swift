import CLinux
import Glibc
import LinuxSystem
import NowPlaying

/// The clock page of a session, or of the active one: the position of the audible sound for programs that map it.
@PlayerLoop final class ClockPage {
    /// The process that writes the page.
    struct Writer: Sendable {
        /// Ticks since the boot at which the process started (proc(5), field 22 of `stat`).
        let startTime: UInt64
        let bootID: [UInt8]

        /// This process.
        static let own = Writer(startTime: ownStartTime, bootID: ownBootID)

        private static var ownStartTime: UInt64 {
            // The name before the fields stands in parentheses and may hold any character.
            let fields = text("/proc/self/stat").split(separator: ")").last?.split(separator: " ") ?? []
            return fields.count > 19 ? UInt64(fields[19]) ?? 0 : 0
        }

        private static var ownBootID: [UInt8] {
            let digits = Array(text("/proc/sys/kernel/random/boot_id").filter(\.isHexDigit))
            guard digits.count == 32 else { return [UInt8](repeating: 0, count: 16) }
            return stride(from: 0, to: 32, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0 }
        }

        private static func text(_ path: String) -> String {
            let file = linux_open(path, O_RDONLY | O_CLOEXEC, 0)
            guard file >= 0 else { return "" }
            defer { Glibc.close(file) }
            var bytes = [UInt8](repeating: 0, count: 1024)
            let count = read(file, &bytes, bytes.count)
            return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
        }
    }

    /// Bytes of a page.
    static let size = Int64(NOWPLAYINGD_CLOCK_SIZE)
    /// The layout number for clients.
    static let layout = Int64(NOWPLAYINGD_CLOCK_LAYOUT)

    private let memory: ClockMemory
    private let waker: ClockWaker
    /// Connections that hold the page, by their numbers.
    private var readers: Set<Int> = []

    /// A page that shows this state.
    init(_ waker: ClockWaker, _ state: NowPlayingState) throws(SystemError) {
        memory = try ClockMemory()
        self.waker = waker
        show(state)
    }

    /// A descriptor of the page for a reader. Throws if no descriptor is free.
    func open(for reader: Int) throws(SystemError) -> OwnedDescriptor {
        let copy = fcntl(memory.file.number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw SystemError("open the clock page") }
        readers.insert(reader)
        return OwnedDescriptor(copy)
    }

    /// Forgets a reader. True: it was the last one.
    func close(for reader: Int) -> Bool { readers.remove(reader) != nil && readers.isEmpty }

    /// Shows a state and wakes the readers.
    func show(_ state: NowPlayingState) {
        var clock = nowplayingd_clock(state, .own)
        memory.write(&clock)
        wake()
    }

    /// Wakes the readers in the next turn of the loop: the answer and the events of this one are sent before thousands
    /// of readers compete for the processors.
    private func wake() { EventLoop.current.later { [waker, memory] in waker.wake(memory) } }

    /// Shows the end of the session; `state`: its last state.
    func end(_ state: NowPlayingState) {
        var clock = nowplayingd_clock(state, .own)
        clock.state = NOWPLAYINGD_CLOCK_ENDED.rawValue
        clock.rate = 0
        memory.write(&clock)
        wake()
    }
}

extension nowplayingd_clock {
    /// The fields of a state. The sequence and the checksum are set when it is written.
    fileprivate init(_ state: NowPlayingState, _ writer: ClockPage.Writer) {
        self.init()
        let anchor = state.anchor
        layout = UInt32(NOWPLAYINGD_CLOCK_LAYOUT)
        self.state = Self.number(of: state.state).rawValue
        seq = UInt64(clamping: state.sequence)
        elapsed = MonotonicTime.nanoseconds(anchor.elapsed)
        duration = state.item?.duration.map(MonotonicTime.nanoseconds) ?? -1
        monotonic = anchor.monotonic.nanoseconds
        rate = anchor.rate
        default_rate = anchor.defaultRate
        skew = anchor.skew
        ad_ends = anchor.ad?.ends?.nanoseconds ?? 0
        item = state.item?.id.number ?? 0
        next_item = state.upcoming?.instant?.monotonic.nanoseconds ?? 0
        volume = state.volume
        flags = (state.muted ? NOWPLAYINGD_CLOCK_MUTED : 0) | (anchor.ad == nil ? 0 : NOWPLAYINGD_CLOCK_AD)
        pid = UInt32(getpid())
        start_time = writer.startTime
        withUnsafeMutableBytes(of: &boot_id) { $0.copyBytes(from: writer.bootID) }
        instance = UInt64(state.instance, radix: 16) ?? 0
    }

    private static func number(of state: PlaybackState) -> nowplayingd_clock_state {
        switch state {
        case .stopped: NOWPLAYINGD_CLOCK_STOPPED
        case .playing: NOWPLAYINGD_CLOCK_PLAYING
        case .paused: NOWPLAYINGD_CLOCK_PAUSED
        case .interrupted: NOWPLAYINGD_CLOCK_INTERRUPTED
        case .stalled: NOWPLAYINGD_CLOCK_STALLED
        }
    }
}
