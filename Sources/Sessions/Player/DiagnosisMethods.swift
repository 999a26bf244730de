import AudioCore
import AudioDecoders
import CLinux
import ControlProtocol
import ControlServer
import DaemonConfiguration
import Glibc
import LinuxSystem
import MediaAccess
import NowPlaying
import PlaybackEngine
import StateKeeping

/// Carries out `diagnostics.get`.
@PlayerLoop final class DiagnosisMethods {
    private let loop: EventLoop
    private let player: Player
    private let settings: LiveConfiguration
    private let opener: DecoderOpener
    /// Pictures; nil: there are none.
    private let artwork: ArtworkKeeper?
    /// Keeps the state; nil: nothing does.
    private let store: StateStore?
    /// The pause of all work with media.
    private let rest: MediaRest
    /// Threads for looks at disks; made at the first of them.
    private lazy var workers = Workers(loop, name: "diagnosis")
    /// When the methods were there first.
    private let began = EventLoop.now

    /// A diagnosis of this player and of what it works with.
    init(
        _ loop: EventLoop, _ player: Player, _ settings: LiveConfiguration, opener: @escaping DecoderOpener,
        artwork: ArtworkKeeper?, store: StateStore?, rest: MediaRest
    ) {
        self.loop = loop
        self.player = player
        self.settings = settings
        self.opener = opener
        self.artwork = artwork
        self.store = store
        self.rest = rest
    }

    /// Seconds that disks and the network get.
    private nonisolated static let diagnosisPatience = 3.0

    /// Findings about disks, made by a worker.
    private struct DiskFindings: Sendable {
        var roots: [String]
        var hasSeccomp: Bool?
        var hasLandlock: Bool?
        var file: JSONValue?
    }

    /// Answers when the disks have, at most 3 s later.
    func diagnose(_ request: MethodRequest, _ answer: @escaping Answer) {
        let roots = settings.current.mediaRoots
        let source = request.media.first?.source
        let abandoned = AbandonFlag()
        let opener = opener
        var waiting: (@PlayerLoop (DiskFindings) -> Void)? = { [weak self] in
            if let self { answer(.success(diagnosis(roots, $0))) }
        }
        let late = loop.deadline(EventLoop.now.advanced(bySeconds: Self.diagnosisPatience)) {
            abandoned.set()
            let file: JSONValue? = source.map {
                ["uri": .string($0.uri), "error": "its disk or server does not answer within 3 s"]
            }
            waiting?(DiskFindings(roots: roots.map { _ in "silent" }, hasSeccomp: nil, hasLandlock: nil, file: file))
            waiting = nil
        }
        workers.submit {
            DiskFindings(
                roots: roots.map(Self.stateOfRoot),
                hasSeccomp: access("/proc/sys/kernel/seccomp/actions_avail", F_OK) == 0,
                hasLandlock: linux_has_landlock() != 0,
                file: source.map { Self.examine($0, opener, abandoned) })
        } _: { found in
            withExtendedLifetime(late) {}
            waiting?(found)
            waiting = nil
        }
    }

    private func diagnosis(_ roots: [String], _ found: DiskFindings) -> JSONValue {
        var output = JSONObject()
        switch settings.current.output {
        case .pulse: output["kind"] = "pulse"
        case .null: output["kind"] = "null"
        case .file(let path):
            output["kind"] = "file"
            output["path"] = .string(path)
        case .mixedFile(let path, let format):
            output["kind"] = "file"
            output["path"] = .string(path)
            output["format"] = .string(format.text)
        case .standardOutput(let format):
            output["kind"] = "pipe"
            output["path"] = "/dev/stdout"
            output["format"] = .string(format.text)
        case .pipe(let path, let format):
            output["kind"] = "pipe"
            output["path"] = .string(path)
            output["format"] = .string(format.text)
        case .snapcast(let address, let format):
            output["kind"] = "snapcast"
            output["address"] = .string(address.text)
            output["buffer"] = settings.current.snapcast.buffer.map { .number($0) }
            output["format"] = .string(format.text)
        }
        if let sink = settings.current.sink { output["sink"] = .string(sink) }
        var result = JSONObject([
            .init(
                "daemon",
                [
                    "version": .string(Product.version), "pid": .integer(Int64(getpid())),
                    "uid": .integer(Int64(geteuid())),
                    "uptime": .number((EventLoop.now.seconds(since: began) * 1000).rounded() / 1000),
                ]),
            .init("output", .object(output)),
            .init(
                "mediaRoots",
                .array(zip(roots, found.roots).map { ["path": .string($0), "state": .string($1)] })),
            .init("decodeProgram", DecodeProgram.path.map { .string($0) } ?? .null),
            .init("tagsProgram", FactsChild.path.map { .string($0) } ?? .null),
            .init("seccomp", found.hasSeccomp.map { .bool($0) } ?? .null),
            .init("landlock", found.hasLandlock.map { .bool($0) } ?? .null),
        ])
        if let error = player.clockError { result["clock"] = Self.clock(error, player.evenness) }
        if let artwork { result["artwork"] = artwork.report }
        if let store {
            var state = JSONObject([.init("directory", .string(store.directory))])
            if let fault = store.fault { state["error"] = .string(fault) }
            if !store.reports.isEmpty { state["reports"] = .array(store.reports.map(JSONValue.string)) }
            result["state"] = .object(state)
        }
        if let restReason = rest.reason { result["rest"] = .string(restReason) }
        if let file = found.file { result["file"] = file }
        return .object(result)
    }

    /// `error` in seconds; of a device that does not play evenly also its jumps, and its loss in seconds per second.
    private static func clock(_ error: Double, _ evenness: Evenness?) -> JSONValue {
        var clock = JSONObject([.init("error", .number((error * 1e6).rounded() / 1e6))])
        if let evenness, evenness.jumps > 0 {
            clock["jumps"] = .integer(Int64(evenness.jumps))
            clock["unsteady"] = .bool(evenness.isUnsteady(at: EventLoop.now))
            clock["loss"] = .number((evenness.loss * 1e6).rounded() / 1e6)
        }
        return .object(clock)
    }

    /// `ready`, `empty`, `missing` or `denied`. May block.
    private nonisolated static func stateOfRoot(_ path: String) -> String {
        guard let folder = opendir(path) else { return errno == EACCES || errno == EPERM ? "denied" : "missing" }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let isHidden = withUnsafeBytes(of: &entry.pointee.d_name) { $0[0] == UInt8(ascii: ".") }
            if !isHidden { return "ready" }
        }
        return "empty"
    }

    /// Opens a file as play would, and describes it. May block.
    private nonisolated static func examine(
        _ source: MediaSource, _ opener: DecoderOpener, _ abandoned: AbandonFlag
    ) -> JSONValue {
        var result = JSONObject([.init("uri", .string(source.uri))])
        do throws(DecodingError) {
            let decoder = try opener(source, abandoned)
            if let late = decoder as? any LateDecoder {
                let deadline = EventLoop.now.advanced(bySeconds: diagnosisPatience)
                while try !late.isOpened() {
                    guard late.wait(seconds: deadline.seconds(since: EventLoop.now)) else {
                        throw DecodingError(.unavailable, "its server does not answer")
                    }
                }
            }
            let format = decoder.mediaFormat
            result["codec"] = .string(format.codec)
            result["sampleRate"] = .integer(Int64(format.sampleRate))
            result["channels"] = .integer(Int64(format.channels))
            result["seekable"] = .bool(decoder.isSeekable)
            if let frames = decoder.boundedLength {
                result["duration"] = .number(
                    (Double(frames) / Double(decoder.format.sampleRate) * 1000).rounded() / 1000)
                result["durationIsExact"] = .bool(!decoder.lengthIsEstimated)
            }
            let metadata = decoder.metadata
            for (name, text) in [
                ("title", metadata.title), ("artist", metadata.artist), ("albumTitle", metadata.albumTitle),
            ] { if let text { result[name] = .string(text) } }
        } catch {
            result["error"] = .string(error.message)
        }
        return .object(result)
    }
}
