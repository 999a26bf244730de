import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import Synchronization
import TestSupport

/// One row of the table, played by a daemon of its own into a file as fast as it comes. On a thread that may wait.
final class BadServerRun {
    private let row: BadServerRow
    private let server: BadServer
    private let redirector: Redirector
    private let folder = TemporaryFolder()
    private(set) var faults: [String] = []

    /// Bytes that may be on their way to a listener that has gone: buffers of both sockets.
    private static let slack = 512 << 10

    /// Plays the row.
    init(_ row: BadServerRow, _ material: BadServerMaterial, _ redirector: Redirector) {
        self.row = row
        self.redirector = redirector
        server = BadServer(row, material) { redirector.redirect(to: $0, number: $1) }
        if row.isLive { station() } else { file(material) }
    }

    private func expect(_ isRight: Bool, _ words: @autoclosure () -> String) {
        if !isRight { faults.append(words()) }
    }

    // MARK: Daemon

    private func start(_ run: Int) -> (RealDaemon, Client) {
        let settings = "[playback]\nresume = playing\n[network]\nca-file = \(redirector.folder.path("certificate.pem"))\n"
        let folder = folder
        let daemon = Blocking.run {
            await RealDaemon.start(
                nil, output: "file:" + folder.path("out\(run).wav"), in: folder, isLogged: true, readsTitles: false,
                ["--config", folder.write(Array(settings.utf8), "settings.conf")])
        }
        let client = daemon.connect()
        return (daemon, client)
    }

    /// Begins to play. A first answer of 404 is the error of the command; the item is tried again.
    private func play(_ client: Client) -> JSONValue {
        let state = client.call("nowPlaying.subscribe") ?? .null
        client.call("queue.add", ["items": [.string(server.address)]])
        let error = client.error("play")
        expect((error != nil) == (row.trouble == .notFound), "the answer to play: \(error ?? .null)")
        return state
    }

    /// States until one of which this is true. Every state of a row has its item, and no error.
    private func states(_ client: Client, until isLast: (JSONValue) -> Bool) -> [JSONValue] {
        var all: [JSONValue] = []
        repeat {
            var state = client.event()
            if state["cause"] == "queue" || state["item"] == nil { continue }
            all.append(state)
            state = .null
        } while !client.isBroken && !(all.last.map(isLast) ?? false)
        for state in all {
            expect(state["error"] == .null, "an error in \(state.words): \(state["error"] ?? .null)")
            if state.playing == "stalled" {
                let reason = state["stall"]?["reason"]?.stringValue ?? ""
                expect(["sourceLate", "unreachable"].contains(reason), "stalled: \(reason)")
            }
        }
        if row.trouble == .notFound {
            expect(
                all.contains { $0["stall"]?["reason"] == "unreachable" && $0["stall"]?["nextTry"]?.doubleValue != nil },
                "no state says that the address fails")
        }
        expect(!client.isBroken, "\(all.map { $0.words + " " + $0.playing }); \(log)")
        return all
    }

    private var log: String { String(decoding: folder.read("log").suffix(600), as: UTF8.self) }

    /// The steps in the files of a run.
    private func heard(_ run: Int) -> [(step: Int, seconds: Double)] {
        var samples: [Int16] = []
        for name in ["out\(run).wav", "out\(run)-2.wav", "out\(run)-3.wav"] { samples += WaveSamples.int16(folder.read(name)) }
        return StepTones.heard(samples)
    }

    // MARK: Stations

    private func station() {
        let (daemon, client) = start(1)
        _ = play(client)
        let isSegmented = row.format == .hls
        let (breaks, isRestarted) = (row.trouble == .drop || row.trouble == .silence, row.trouble == .restart)
        let seen = states(client) { [server] state in
            // Each connection but the last one ends in silence.
            if isSegmented { return state.playing == "playing" }
            return state["stall"]?["reason"] == "sourceLate" && server.bodies == (breaks ? 2 : 1)
                && server.isIdle && state.elapsed >= (breaks ? 13.5 : isRestarted ? 6 : 7)
        }
        if isSegmented { expect(becomes { self.server.parts >= 8 }, "its parts stop at \(server.parts)") }
        expect(seen.allSatisfy { $0["queue"]?["index"] != 1 }, "the queue walks")
        if row.isIcy {
            expect(seen.contains { $0["item"]?["artist"] == "Cook" } || isSegmented, "no title of the stream")
            expect(seen.contains { $0["item"]?["albumTitle"] == "Kitchen" } || isSegmented, "no name of the station")
        }
        expect(isSegmented || seen.contains { $0["item"]?["isLiveStream"] == true }, "it is no live stream")
        expect(daemon.stop() == 0, "the daemon's end")
        let first = heard(1)
        if isSegmented {
            check(parts: first)
        } else {
            check(first, breaks ? [0..<13, 16..<31] : isRestarted ? [0..<13] : [0..<15])
        }
        expect(server.bodies <= (breaks ? 2 : 1) || isSegmented, "\(server.bodies) connections")
        guard isRestarted else { return }
        let (second, follower) = start(2)
        _ = follower.call("nowPlaying.subscribe")
        if isSegmented {
            let before = server.parts
            expect(becomes { self.server.parts >= before + 2 }, "no parts after the restart")
        } else {
            _ = states(follower) { [server] in $0["stall"]?["reason"] == "sourceLate" && server.bodies == 2 && server.isIdle && $0.elapsed >= 7 }
        }
        expect(second.stop() == 0, "the second daemon's end")
        if isSegmented { check(parts: heard(2)) } else { check(heard(2), [16..<31]) }
    }

    /// Checks that these ranges of steps were heard, at least, in order and without others.
    private func check(_ heard: [(step: Int, seconds: Double)], _ ranges: [Range<Int>]) {
        let steps = heard.map(\.step)
        let rest = steps.filter { step in !ranges.contains { $0.contains(step) } }
        expect(ranges.allSatisfy { Set($0).isSubset(of: steps) } && steps == steps.sorted(), "heard: \(steps)")
        // The last ones of a connection come in part.
        expect(rest.allSatisfy { step in ranges.contains { step == $0.upperBound || step == $0.upperBound + 1 } }, "heard: \(steps)")
    }

    /// Checks parts of a growing HLS stream: in order, and one or two of them may be missing at the trouble.
    private func check(parts heard: [(step: Int, seconds: Double)]) {
        let steps = heard.map(\.step)
        let gaps = zip(steps, steps.dropFirst()).map { $1 - $0 }.filter { $0 != 1 }
        let mostGaps = row.trouble == .drop || row.trouble == .silence ? 1 : 0
        expect(steps.count >= 4, "heard: \(steps)")
        expect(gaps.count <= mostGaps && gaps.allSatisfy { $0 > 0 && $0 <= 9 }, "heard: \(steps)")
    }

    // MARK: Files

    /// True if it is live until its end shows that it is a file.
    private var isUndecided: Bool { !row.hasLength && row.format != .m4a && row.format != .hls }

    private func file(_ material: BadServerMaterial) {
        let (daemon, client) = start(1)
        _ = play(client)
        if row.trouble == .restart { return restart(daemon, client, material) }
        let seen = states(client) { $0.playing == "stopped" }
        expect(seen.last?.words == "stop ended", "the end: \(seen.last?.words ?? "")")
        expect(
            seen.filter { $0.playing == "playing" }.allSatisfy { $0["item"]?["isLiveStream"] == .bool(isUndecided) },
            "live or not")
        expect(daemon.stop() == 0, "the daemon's end")
        let breaks = row.trouble == .drop || row.trouble == .silence
        let steps = heard(1)
        if breaks, !row.hasLength, row.format == .hls ? !row.isChunked && row.trouble == .drop : true {
            // Nothing shows that the rest is missing, or the next connection begins alike: it has ended.
            let numbers = steps.map(\.step)
            let whole = Array(0..<StepTones.count)
            expect(numbers.count >= 15 && numbers == numbers.sorted() && Set(numbers).isSubset(of: whole), "heard: \(numbers)")
        } else {
            check(whole: steps, from: 0)
        }
        let size = row.format == .hls ? material.segments.reduce(0) { $0 + $1.count } : material.file(row).count
        let isResumable = row.hasLength && row.sendsParts || row.format == .hls
        let most = isResumable || !breaks ? size : 2 * size
        expect(server.sent <= most + Self.slack, "\(server.sent) bytes of \(size) were loaded")
    }

    private func restart(_ daemon: RealDaemon, _ client: Client, _ material: BadServerMaterial) {
        let seen = states(client) { [server] in
            $0["stall"]?["reason"] == "sourceLate" && server.isIdle && $0.elapsed >= 6
        }
        let position = seen.last?.elapsed ?? 0
        expect(daemon.stop() == 0, "the daemon's end")
        let before = server.sent
        let first = heard(1)
        expect(first.first?.step == 0 && first.count >= 12, "heard before the restart: \(first.map(\.step))")
        let (second, follower) = start(2)
        let now = follower.call("nowPlaying.subscribe") ?? .null
        if now.playing != "stopped" {
            let later = states(follower) { $0.playing == "stopped" }
            expect(later.last?.words == "stop ended", "the end: \(later.last?.words ?? "")")
        }
        expect(second.stop() == 0, "the second daemon's end")
        check(whole: heard(2), from: isUndecided ? 0 : Int(position / 0.5))
        let size = row.format == .hls ? material.segments.reduce(0) { $0 + $1.count } : material.file(row).count
        let isSeekable = row.hasLength && row.sendsParts || row.format == .hls
        let rest = isSeekable ? size - Int(Double(size) * position / 24) : size
        expect(server.sent - before <= rest + Self.slack, "\(server.sent - before) bytes of \(rest) were loaded after the restart")
    }

    private func check(whole heard: [(step: Int, seconds: Double)], from first: Int) {
        let steps = heard.map(\.step)
        expect(
            steps == Array(first..<StepTones.count) || steps == Array((first + 1)..<StepTones.count), "heard from \(first): \(steps)")
        let inner = heard.dropFirst().dropLast()
        expect(inner.allSatisfy { (0.3...0.6).contains($0.seconds) }, "seconds of the steps: \(inner.map(\.seconds))")
    }
}

/// Waits of a thread for asynchronous work.
enum Blocking {
    private final class Box<T: Sendable>: Sendable {
        let value = Mutex<T?>(nil)
    }

    /// Runs `body` elsewhere and returns its result.
    static func run<T: Sendable>(_ body: @escaping @Sendable () async -> T) -> T {
        let box = Box<T>()
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0)
        let (wait, ready) = (ends[0], ends[1])
        Task {
            let result = await body()
            box.value.withLock { $0 = result }
            close(ready)
        }
        var byte: UInt8 = 0
        _ = read(wait, &byte, 1)
        close(wait)
        return box.value.withLock { $0! }
    }
}

/// Samples of WAV files of any format that the daemon writes.
enum WaveSamples {
    /// The samples as 16 bit.
    static func int16(_ file: [UInt8]) -> [Int16] {
        guard file.count > 44, let format = file.firstRange(of: Array("fmt ".utf8))?.upperBound else { return [] }
        func number(_ offset: Int) -> Int { Int(file[format + 4 + offset]) | Int(file[format + 5 + offset]) << 8 }
        let (tag, bits) = (number(0) == 0xFFFE ? number(24) : number(0), number(14))
        let data = samples(file)
        return data.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count / (bits / 8) * (bits / 8), by: bits / 8).map { place in
                switch (tag, bits) {
                case (3, 32):
                    Int16(clamping: Int((bytes.loadUnaligned(fromByteOffset: place, as: Float.self) * 32767).rounded()))
                case (_, 32): Int16(truncatingIfNeeded: bytes.loadUnaligned(fromByteOffset: place, as: Int32.self) >> 16)
                case (_, 24): Int16(bitPattern: UInt16(bytes[place + 1]) | UInt16(bytes[place + 2]) << 8)
                default: bytes.loadUnaligned(fromByteOffset: place, as: Int16.self)
                }
            }
        }
    }
}
