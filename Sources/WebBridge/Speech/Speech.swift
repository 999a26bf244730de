import CLinux
import Glibc
import LinuxSystem
import NowPlaying
import WebProtocol

/// The conversion of one text by the speech program. The end of this object kills the program.
@PlayerLoop final class Speech {
    /// The sound, or a refusal in words.
    typealias Outcome = Result<[UInt8], HTTPFault>

    /// Maximum seconds of a program.
    nonisolated static let seconds = 10
    /// Maximum bytes of a sound.
    private static let maximumBytes = AnnounceRequest.maximumBytes

    private let loop: EventLoop
    private let reading: OwnedDescriptor
    private var child: ChildProcess?
    private var source: EventSource?
    private var deadline: EventSource?
    private var bytes: [UInt8] = []
    private var done: (@PlayerLoop (Outcome) -> Void)?

    /// Starts a program with its arguments. `helper`: the path of nowplaying-web, which becomes the program. `done` is called
    /// once, unless this object ends before. Blocks for some milliseconds. Throws a refusal in words.
    init(
        _ loop: EventLoop, _ program: [String], _ text: String, helper: String,
        _ done: @escaping @PlayerLoop (Outcome) -> Void
    ) throws(HTTPFault) {
        guard linux_has_landlock() == 1 else {
            throw HTTPFault(.unavailable, "this kernel cannot confine the speech program: it needs Landlock")
        }
        guard let path = program.first, access(path, X_OK) == 0 else {
            let reason = SystemError("access").message
            throw HTTPFault(.unavailable, "cannot run the program of “speech” in [web]: \(reason)")
        }
        let (input, output) = (try Self.pipe(), try Self.pipe())
        let line = Array((text + "\n").utf8)
        // An empty pipe holds 64 KiB, and the text is shorter.
        guard write(input.writing.number, line, line.count) == line.count else { throw Self.exhausted }
        self.loop = loop
        reading = output.reading
        self.done = done
        do throws(SystemError) {
            child = try ChildProcess.start(
                helper, [SpeechChild.word, String(getpid())] + program,
                descriptors: [input.reading.number, output.writing.number])
        } catch { throw HTTPFault(.unavailable, "cannot start the speech program: \(error.message)") }
        // The parent's copies of the child's ends close now, so that the parent sees the end of the child's.
        withExtendedLifetime((input, output)) {}
        let flags = linux_flags(reading.number)
        _ = fcntl(reading.number, F_SETFL, flags | O_NONBLOCK)
        source = loop.watch(reading.number, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in receive() }
        deadline = loop.deadline(EventLoop.now.advanced(bySeconds: Double(Self.seconds))) { [unowned self] in
            finish(.failure(HTTPFault(.badGateway, "the speech program took more than \(Self.seconds) seconds")))
        }
    }

    isolated deinit { end() }

    /// The text for programs, without control characters. Throws for an empty or too long text.
    static func checked(_ bytes: [UInt8]) throws(HTTPFault) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw HTTPFault(.badRequest, "the text has to be UTF-8")
        }
        guard text.unicodeScalars.count <= AnnounceRequest.maximumCharacters else {
            throw HTTPFault(.tooLarge, "the text has more than \(AnnounceRequest.maximumCharacters) characters")
        }
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { plain.append(scalar.properties.generalCategory == .control ? " " : scalar) }
        guard plain.contains(where: { !$0.properties.isWhitespace }) else {
            throw HTTPFault(.badRequest, "the body has to be a text")
        }
        return String(plain)
    }

    private static let exhausted = HTTPFault(.unavailable, "out of descriptors for the speech program")

    private static func pipe() throws(HTTPFault) -> (reading: OwnedDescriptor, writing: OwnedDescriptor) {
        var ends: [Int32] = [-1, -1]
        guard linux_pipe(&ends) == 0 else { throw exhausted }
        return (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
    }

    private func receive() {
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { space in
            while source != nil {
                let count = read(reading.number, space.baseAddress, space.count)
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { return }
                guard count > 0 else { return complete() }
                bytes.append(contentsOf: space[..<count])
                guard bytes.count <= Self.maximumBytes else {
                    return finish(.failure(HTTPFault(.badGateway, "the speech program made more than 16 MiB")))
                }
            }
        }
    }

    private func complete() {
        guard !bytes.isEmpty else {
            return finish(
                .failure(
                    HTTPFault(
                        .badGateway,
                        "the speech program made no sound; it may read files of the system and of its arguments")))
        }
        finish(.success(bytes))
    }

    private func finish(_ outcome: Outcome) {
        end()
        let done = done
        self.done = nil
        bytes = []
        done?(outcome)
    }

    private func end() {
        source?.release()
        source = nil
        deadline = nil
        // The process leads a group, which its children cannot leave.
        if let child { kill(-child.pid, SIGKILL) }
        child = nil
    }
}
