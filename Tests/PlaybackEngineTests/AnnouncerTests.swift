import AudioCore
import Glibc
import LinuxSystem
import MixedOutput
import NowPlaying
import Synchronization
import TestSupport
import Testing

@testable import PlaybackEngine

/// Announcements, one after the other.
@Suite struct AnnouncerTests {
    init() { LoopThread.start() }

    @Test("hanging media occupy four threads at most, and announcements play again when those end")
    @PlayerLoop func hanging() async {
        let disk = HangingDisk()
        let (player, announcer) = Self.player(of: disk, sourcePatience: 0.02)
        var refusals: [String] = []
        for _ in 0..<10 { refusals.append(await Self.refusal(announcer)) }
        #expect(disk.opened.withLock { $0 } == 4)
        #expect(refusals.prefix(4).allSatisfy { $0.contains("nothing came of it") }, "\(refusals)")
        #expect(refusals.dropFirst(4).allSatisfy { $0.contains("hang") }, "\(refusals)")
        disk.letGo()
        // The threads end one by one; then a medium that recovered is opened again.
        var last = ""
        let end = EventLoop.now.advanced(bySeconds: 20)
        while !last.contains("it is gone"), EventLoop.now < end {
            await LoopThread.turns(1)
            last = await Self.refusal(announcer)
        }
        #expect(last.contains("it is gone"))
        player.shutDown()
    }

    @Test("unplayable media do not count as hanging, however many")
    @PlayerLoop func refused() async {
        let disk = HangingDisk()
        disk.letGo()
        let (player, announcer) = Self.player(of: disk, sourcePatience: 30)
        for _ in 0..<100 { #expect(await Self.refusal(announcer).contains("it is gone")) }
        player.shutDown()
    }

    /// A player with this disk, and its announcer.
    @PlayerLoop private static func player(
        of disk: HangingDisk, sourcePatience: Double
    ) -> (player: Player, announcer: Announcer) {
        let loop = EventLoop.current
        var parts = PlayerParts(
            output: NullOutput(loop), openDecoder: disk.open, ringCapacity: { $0.frames(seconds: 1) },
            events: EventCounter(), instance: "test")
        parts.announcementPatience = sourcePatience
        let player = Player(loop, parts)
        return (player, player.announcer)
    }

    /// Failure of an announcement.
    @PlayerLoop private static func refusal(_ announcer: Announcer) async -> String {
        await withCheckedContinuation { continuation in
            announcer.add(Announcement(source: .handedOver(name: "a"))) { continuation.resume(returning: "\($0)") }
        }
    }
}

/// Delivers nothing until its release, and then has nothing.
private final class HangingDisk: Sendable {
    let opened = Mutex(0)
    /// Ends of a pipe without a writer.
    private let (reader, writer): (Int32, Int32)

    init() {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0)
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        close(reader)
        close(writer)
    }

    func letGo() { _ = write(writer, [UInt8](repeating: 0, count: 1000), 1000) }

    @Sendable func open(_ source: MediaSource, _ abandoned: AbandonFlag) throws(DecodingError) -> any AudioDecoder {
        opened.withLock { $0 += 1 }
        // The thread reads even if it was given up, as in a read that hangs in the kernel.
        var byte: UInt8 = 0
        _ = read(reader, &byte, 1)
        throw DecodingError(.unavailable, "it is gone")
    }
}
