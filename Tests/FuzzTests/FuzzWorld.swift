import AudioCore
import CVirtualTime
import ControlProtocol
import ControlServer
import DaemonConfiguration
import Dispatch
import LinuxSystem
import MediaAccess
import NowPlaying
import Synchronization
import TestSupport

@testable import MixedOutput
@testable import PlaybackEngine
@testable import Sessions
@testable import StateKeeping

/// A player that plays claimed media into nothing, on virtual time, and the methods that act on it. It lives within one call on
/// the loop's thread.
@PlayerLoop final class FuzzWorld {
    /// The bytes that outlive a process.
    struct Saved {
        fileprivate var journal: [UInt8] = []
        fileprivate var position: [UInt8]?
    }

    let methods: PlayerMethods
    private var player: Player { methods.player }
    private let decode: DecodeThread
    private let worker: DecodeWorker
    private var stepping: EventSource?
    private static let encoder = StateEncoder(bootID: "b")
    private static let by = ClientIdentity(number: 1, name: "fuzz", pid: 1, uid: 1, role: .admin, isForeign: false)
    /// Calls of the loop in one world, at most.
    private static let mostCalls = 20_000
    private var calls = 0

    /// Has the loop do `body` on virtual time, and returns when it is done.
    nonisolated static func run(_ body: @escaping @PlayerLoop @Sendable () -> Void) {
        LoopThread.start()
        let isDone = DispatchSemaphore(value: 0)
        Task { @PlayerLoop in
            EventLoop.current.separateDeferred()
            virtual_time_enter(1_000_000_000_000)
            body()
            virtual_time_leave()
            EventLoop.current.joinDeferred()
            isDone.signal()
        }
        isDone.wait()
    }

    /// A stopped player whose sources are all these media.
    init(_ media: ClaimedMedia) {
        let loop = EventLoop.current
        let open: DecoderOpener = { _, _ throws(DecodingError) in media.open() }
        let capacity: @Sendable (AudioFormat) -> Int64 = { max(4096, min(Int64($0.sampleRate) * 11, 1 << 19)) }
        let output = NullOutput(loop)
        var parts = PlayerParts(
            output: output, openDecoder: open, ringCapacity: capacity, events: EventCounter(), instance: "fuzz")
        var made: DecodeWorker?
        let decode = DecodeThread(
            loop, open: open, ringCapacity: capacity, rates: parts.rates, knowledge: SourceKnowledge(),
            deliver: {},
            start: {
                made = $0
                return true
            })
        guard let decode, let made else { preconditionFailure("the system has no descriptors left") }
        self.decode = decode
        worker = made
        parts.makeDecodeThread = { _, _ in decode }
        let player = Player(loop, parts)
        methods = PlayerMethods(
            loop, player: player, output: output, opener: open, encoder: Self.encoder,
            settings: LiveConfiguration(Configuration()), log: { _ in })
        player.listen { listeners in
            listeners.onPublish = { state in
                precondition((try? JSONReader.read(Self.encoder.encode(state))) != nil, "a state that is no JSON")
            }
        }
    }

    /// Ends it.
    func end() {
        player.listen { $0.onPublish = nil }
        player.shutDown()
        stepping?.release()
        var turns = 0
        while virtual_time_dispatch(), turns < 1000 { turns += 1 }
    }

    /// Carries out a request as the control server does: nothing happens if the catalogue refuses it.
    func request(_ name: MethodName, _ parameters: JSONObject, media: [ResolvedMedia] = []) {
        guard let method = Catalogue.methods.first(where: { $0.name == name.rawValue }) else { return }
        do throws(RPCError) { try method.check(parameters) } catch { return }
        methods.perform(MethodRequest(method: name, client: Self.by, parameters: parameters, media: media)) { _ in }
    }

    /// Replaces the queue by two items and plays them, each with fields from a client.
    func play(_ given: MediaMetadata = MediaMetadata()) {
        let media = (0..<2).map { _ in
            ResolvedMedia(source: .file("/fuzz/1"), details: ItemDetails(given: given, duration: nil))
        }
        request(.command(.play), JSONObject([.init("uri", "/fuzz/1")]), media: media)
    }

    /// Lets time pass, until sound is heard if that is wanted.
    func run(seconds: Double, untilAudible: Bool = false) {
        let end = EventLoop.now.nanoseconds + Int64(seconds * 1e9)
        wakeWorker()
        while !untilAudible || player.state.anchor.rate == 0, calls < Self.mostCalls {
            calls += 1
            let due = virtual_time_next()
            guard due >= 0, due <= end else { return virtual_time_set(end) }
            virtual_time_set(max(due, EventLoop.now.nanoseconds + 1000))
            _ = virtual_time_dispatch()
            wakeWorker()
        }
    }

    private func wakeWorker() {
        guard stepping == nil, decode.withOrders({ $0.isAwake }) else { return }
        stepping = EventLoop.current.deadline(EventLoop.now.advanced(bySeconds: 0.0005)) { [unowned self] in
            stepping?.release()
            stepping = nil
            _ = worker.step()
            player.playout.decoding.takeReports()
        }
    }

    // MARK: Restart

    /// The queue and the place as they lie on the disk.
    func save() -> Saved {
        var saved = Saved()
        Journal.writeSnapshot(player.queue, CommandSettings(methods.table.centre.lasting), sequence: 1, identity: 7) {
            saved.journal += $0
        }
        saved.position = PositionSlot.encode(player.savedPosition, number: 1)
        return saved
    }

    /// Restores the saved state of another world, and resumes playback.
    func restore(_ saved: Saved) {
        let journal = saved.journal.withUnsafeBytes { Journal.read($0) }
        precondition(journal.state == .whole, "what was saved can't be read")
        let position = saved.position.flatMap { $0.withUnsafeBytes { PositionSlot.decode($0) } }
        precondition(saved.position == nil || position != nil, "the position that was saved can't be read")
        methods.table.restoreLasting(journal.commands.settings)
        player.restore(journal.queue, position?.position ?? SavedPosition(), .playing)
        precondition((try? JSONReader.read(Self.encoder.encode(player.state))) != nil, "a state that is no JSON")
    }
}
