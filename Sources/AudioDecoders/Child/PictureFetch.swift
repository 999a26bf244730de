package import AudioCore
import CLinux
import ChildDecoding
import Glibc
import LinuxSystem
import NowPlaying
import Synchronization
import TrackReading

/// Pictures that nowplaying-decode finds or makes. Its messages are treated as hostile: this class counts bytes and
/// pictures, and an unexpected message ends the order. One order at a time; it blocks, and any thread can cancel it.
package final class PictureFetch: Sendable {
    /// An address on the network, and the rights to use it.
    package struct Address: Hashable, Sendable {
        /// http:// or https://.
        package let text: String
        /// True if the client that named it may use addresses of this host.
        package let mayUseLoopback: Bool
        /// True if its referrer was public.
        package let wasPublic: Bool

        /// An address, by its parts.
        package init(_ text: String, mayUseLoopback: Bool, wasPublic: Bool) {
            self.text = text
            self.mayUseLoopback = mayUseLoopback
            self.wasPublic = wasPublic
        }
    }

    /// Seconds that a picture from the network may take.
    package static let networkPatience = 30.0
    /// Seconds that a picture from a file may take.
    private static let filePatience = 10.0

    private struct State {
        var socket: OwnedDescriptor?
        var isGivenUp = false
    }

    private let program: String?
    private let state = Mutex(State())

    /// Prepares an order to `program`; starts nothing.
    package init(program: String? = DecodeProgram.path) { self.program = program }

    /// Cancels the order: it ends at once. Any thread.
    package func giveUp() {
        state.withLock { state in
            state.isGivenUp = true
            if let socket = state.socket { linux_shut_down(socket.number) }
        }
    }

    /// The pictures of the best kind in a file, at most `WirePicture.maximumCount`. The caller keeps the file. Throws
    /// `DecodingError`.
    package func embedded(file: Int32) throws(DecodingError) -> [[UInt8]] {
        try answer(file: file, PictureRequest(.embedded), patience: Self.filePatience)
    }

    /// The first frame of the film in this file, as a JPEG or PNG. Throws `DecodingError`.
    package func firstFrame(file: Int32) throws(DecodingError) -> [UInt8] {
        let pictures = try answer(file: file, PictureRequest(.firstFrame), patience: Self.filePatience)
        guard let first = pictures.first else { throw DecodingError(.broken, "it contains no picture") }
        return first
    }

    /// Fetches the file at an address, at most 32 MiB. Throws `DecodingError`.
    package func fetch(
        _ address: Address, certificates: String?, userAgent: String
    ) throws(DecodingError) -> [UInt8] {
        var request = OpenRequest()
        request.address = address.text
        request.mayUseLoopback = address.mayUseLoopback
        request.wasPublic = address.wasPublic
        request.certificates = certificates ?? ""
        request.userAgent = userAgent
        let order = PictureRequest(.fetch, request)
        guard let first = try answer(file: nil, order, patience: Self.networkPatience).first else {
            throw DecodingError(.notRecognised, "its server sends nothing")
        }
        return first
    }

    private func answer(
        file: Int32?, _ request: PictureRequest, patience: Double
    ) throws(DecodingError) -> [[UInt8]] {
        let deadline = EventLoop.now.advanced(bySeconds: patience)
        let (process, socket) = try DecodeProgram.start(program, file: file, request)
        defer { withExtendedLifetime(process) {} }
        let isGivenUp = state.withLock { state in
            state.socket = socket
            return state.isGivenUp
        }
        defer { state.withLock { $0.socket = nil } }
        if isGivenUp { throw givenUp }
        let messages = ChildMessages(socket.number)
        let result: Result<[[UInt8]], DecodingError>
        do throws(WireError) { result = try collect(messages, until: deadline) } catch {
            if state.withLock({ $0.isGivenUp }) { throw givenUp }
            throw DecodingError(
                .unavailable,
                messages.isClosed
                    ? "the program that fetches it ended unexpectedly"
                    : "the program that fetches it sent \(error.message)")
        }
        return try result.get()
    }

    /// Collects the child's messages. Throws `WireError` for invalid ones.
    private func collect(
        _ messages: ChildMessages, until deadline: MonotonicTime
    ) throws(WireError) -> Result<[[UInt8]], DecodingError> {
        var pictures = PictureCollection()
        while true {
            if let message = try messages.next() {
                guard case .body(let kind, let body) = message else { throw WireError("audio instead of pictures") }
                if kind == .failed { return .failure(failure(try WireFailure(body))) }
                if try pictures.take(kind, body) { return .success(pictures.all) }
                continue
            }
            guard messages.wait(until: deadline) else {
                return .failure(DecodingError(.unavailable, "it takes too long"))
            }
        }
    }

    private var givenUp: DecodingError { DecodingError(.unavailable, "the request was cancelled") }

    private func failure(_ failed: WireFailure) -> DecodingError {
        DecodingError(.unavailable, TagText.text(Array(failed.message.utf8)) ?? "it is not available")
    }
}

/// Pictures as they come in, limited in number and size.
struct PictureCollection {
    /// The complete pictures, and the one that is incomplete.
    private(set) var all: [[UInt8]] = []
    private var left = 0
    private var total = 0

    /// Takes a message; true: it was the last. Throws `WireError`.
    mutating func take(_ kind: WireMessage, _ body: [UInt8]) throws(WireError) -> Bool {
        switch kind {
        case .picture:
            let picture = try WirePicture(body)
            total += picture.count
            guard left == 0, all.count < WirePicture.maximumCount, total <= WirePicture.maximumBytes else {
                throw WireError("too many pictures")
            }
            left = picture.count
            all.append([])
        case .piece:
            guard !body.isEmpty, body.count <= left else { throw WireError("a picture larger than announced") }
            left -= body.count
            all[all.count - 1] += body
        case .end:
            guard left == 0 else { throw WireError("an incomplete picture") }
            return true
        case .open, .seek, .look, .measure, .opened, .audio, .metadata, .seeked, .failed, .progress, .beginning,
            .measured:
            throw WireError("an unexpected message")
        }
        return false
    }
}
