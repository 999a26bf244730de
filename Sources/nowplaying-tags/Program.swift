import AudioCore
import AudioDecoders
import CLateLibraries
import CLinux
import ChildDecoding
import Glibc
import NowPlaying
import TrackReading

/// Number under which the daemon hands over the socket that orders come by.
private let socket: Int32 = 3

/// Ends the process without a word: nobody is there to read it.
private func leave(_ status: Int32) -> Never { _exit(status) }

/// Ends the process after a text on `descriptor`.
private func leave(_ text: String, on descriptor: Int32, _ status: Int32) -> Never {
    _ = text.withCString { write(descriptor, $0, strlen($0)) }
    leave(status)
}

/// Carries out the orders of the program that started us: one file after the other, until that closes the socket.
func run(_ arguments: [String]) -> Never {
    let usage = "nowplayingd starts nowplaying-tags; it has no other use. See nowplaying-tags(8).\n"
    if arguments.count == 2 {
        if ["-h", "--help"].contains(arguments[1]) { leave(usage, on: 1, 0) }
        if ["-V", "--version"].contains(arguments[1]) { leave("nowplaying-tags \(Product.version)\n", on: 1, 0) }
    }
    let checks = arguments.count == 3 && arguments[2] == "check"
    // Confined, it could not load the tables of the character set.
    let hasCharset = arguments.count == 3 && LegacyText.take(argument: arguments[2])
    guard arguments.count == 2 || checks || hasCharset, let parent = pid_t(arguments[1]), linux_harden_process() == 0,
        getppid() == parent
    else { leave(usage, on: 2, 64) }
    signal(SIGPIPE, SIG_IGN)
    linux_lower_priority(0)
    Limits.set()
    // Confined, it cannot open a library; a decoder without its library says so.
    _ = late_decoders_are_there()
    let isConfined = linux_confine_reader() == 0
    var tracks = TrackOrders(socket)
    while true {
        switch awaitOrder() {
        case .facts(let file, let extent):
            send(answer(about: file, isConfined: isConfined, checks: checks), extent)
        case .tracks(let files, let keepsComments):
            guard isConfined, !checks else { leave(69) }
            if !tracks.carryOut(files, keepsComments: keepsComments) { leave(0) }
        }
    }
}

/// An order of the program that started us, with its open files.
private enum Order {
    /// Facts of this extent for the lists of the daemon.
    case facts(Int32, FileFacts.Extent)
    /// Facts for the library, with all fields of the tags or without.
    case tracks(ArraySlice<Int32>, keepsComments: Bool)
}

private func answer(about descriptor: Int32, isConfined: Bool, checks: Bool) -> FactsAnswer {
    guard isConfined else {
        close(descriptor)
        return .refused(DecodingError(.unavailable, "this kernel has no seccomp (CONFIG_SECCOMP_FILTER)"))
    }
    if checks {
        close(descriptor)
        return .refused(DecodingError(.unavailable, "allowed: \(SelfCheck.allowed().joined(separator: ", "))"))
    }
    do throws(DecodingError) { return FactsReading.read(try MediaFile(descriptor: descriptor)) } catch {
        return .refused(error)
    }
}

/// The next order. Ends the process when nobody asks any more.
private func awaitOrder() -> Order {
    while true {
        var polled = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&polled, 1, -1) > 0 else { continue }
        var bytes = [UInt8](repeating: 0, count: FactsOrder.bytes)
        var files = [Int32](repeating: -1, count: Int(LINUX_MAXIMUM_DESCRIPTORS))
        var (count, isCut) = (Int32(0), Int32(0))
        let received = linux_receive(socket, &bytes, bytes.count, &files, &count, &isCut)
        if received < 0, errno == EINTR || errno == EAGAIN { continue }
        guard received > 0 else { leave(0) }
        guard received == bytes.count, isCut == 0 else { leave(65) }
        if let order = TrackOrder(bytes) {
            guard order.files == count else { leave(65) }
            return .tracks(files[..<Int(count)], keepsComments: order.keepsComments)
        }
        guard count == 1, let order = try? FactsOrder(bytes) else { leave(65) }
        return .facts(files[0], order.extent)
    }
}

private func send(_ answer: FactsAnswer, _ extent: FileFacts.Extent) {
    let bytes = answer.bytes(extent)
    var done = 0
    while done < bytes.count {
        let count = bytes[done...].withUnsafeBytes { linux_send(socket, $0.baseAddress, $0.count, nil, 0) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { leave(0) }
        done += count
    }
}

/// Bounds that the kernel holds us to.
private enum Limits {
    /// Most memory, in bytes: libraries and their tables take a quarter of it.
    private static let memory: UInt = 512 << 20
    /// Most time of the processor, in seconds: hundreds of thousands of files.
    private static let processor: UInt = 3600

    /// Sets them for good.
    static func set() {
        set(RLIMIT_CORE, 0)
        set(RLIMIT_AS, memory)
        set(RLIMIT_CPU, processor)
        set(RLIMIT_FSIZE, 0)
        set(RLIMIT_NOFILE, 32)
    }

    private static func set(_ resource: __rlimit_resource, _ value: UInt) {
        var limit = rlimit(rlim_cur: value, rlim_max: value)
        setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
    }
}
