import ArtworkLookup
import AudioCore
import AudioDecoders
import ControlProtocol
import LinuxSystem
import MediaAccess
import NowPlaying
import TestSupport

@testable import DaemonRuntime

/// Playback of arbitrary claims of media and clients, until they are audible, published, saved and restored.
extension FuzzTarget {
    static let playing: [FuzzTarget] = [claims, method, artworkSearch]

    /// A decoder that claims any length, rate, chapters and tags; then some seeks.
    private static let claims = FuzzTarget(
        name: "claims",
        seeds: {
            [
                // 44,100 Hz, 60 s; then seeks to 3,600 s and 1e300 s.
                [0, 3, 1, 6, 3, 3, 3, 0, 192, 0, 0, 0, 0, 0, 40, 96, 64, 200, 1, 6, 18],
                // A length of 2^63 - 1 frames at 1 Hz with chapters at edges and gains of 1e300.
                [1, 0, 0, 12, 13, 12, 13, 48, 12, 200, 12, 4, 8, 14, 18, 2, 18, 19, 18, 0],
                // Nothing promised, no seeking.
                [2, 7, 1, 0, 0, 0, 0, 5, 250, 1],
            ]
        },
        run: { bytes in
            FuzzWorld.run {
                var numbers = FuzzNumbers(bytes)
                let media = ClaimedMedia(&numbers)
                var given = MediaMetadata()
                let ranges = (0..<numbers.choice(4)).map { _ in
                    AdTimeRange(start: numbers.number(), duration: numbers.number())
                }
                let isTaken = ranges.allSatisfy {
                    (0...1e7).contains($0.start) && $0.duration > 0 && $0.duration <= 1e7
                }
                if isTaken { given.adTimeRanges = ranges.sorted { $0.start < $1.start } }
                let world = FuzzWorld(media)
                world.play(given)
                world.run(seconds: 3, untilAudible: true)
                for _ in 0..<4 where !numbers.isAtEnd {
                    world.request(
                        .command(.changePlaybackPosition), JSONObject([.init("position", .number(numbers.number()))]))
                    world.run(seconds: 0.5)
                }
                restart(world, media)
            }
        })

    /// Methods of the catalogue with numbers at their edges: for each, two bytes and the bytes of its parameters. The first
    /// byte decides if an item plays before.
    private static let method = FuzzTarget(
        name: "method",
        seeds: {
            Catalogue.methods.indices.map { place in
                [1, UInt8(place), 3, 1, 18, 1, 14, 1, 10, 1, 16, 1, 20] + [0, 0] + [
                    1, UInt8(place), 1, 0, 1, 15, 1, 19, 1, 17,
                ]
            }
        },
        run: { bytes in
            FuzzWorld.run {
                var numbers = FuzzNumbers(bytes)
                var plain = FuzzNumbers([0, 3, 1, 6, 3, 3, 3, 0, 3, 0, 100])
                let media = ClaimedMedia(&plain)
                let world = FuzzWorld(media)
                let start = numbers.choice(4)
                if start > 0 { world.play() }
                if start > 1 { world.run(seconds: 3, untilAudible: true) }
                if start > 2 { world.request(.command(.pause), JSONObject()) }
                for _ in 0..<12 where !numbers.isAtEnd {
                    let name = MethodName.allCases[numbers.choice(MethodName.allCases.count)]
                    let method = Catalogue.method(name)
                    // These two ask threads of their own.
                    if name == .other(.diagnosticsGet) || name == .other(.announce) { continue }
                    let parameters = numbers.object(method.parameters)
                    let names = ["uri", "items", "descriptor"].contains { parameters[$0] != nil }
                    world.request(
                        name, parameters,
                        media: names ? [ResolvedMedia(source: .file("/fuzz/2"), details: nil)] : [])
                    world.run(seconds: Double(numbers.choice(3)) / 4)
                }
                world.request(.command(.play), JSONObject())
                world.run(seconds: 3, untilAudible: true)
                restart(world, media)
            }
        })

    /// Ends a world, and restores its saved state in another one.
    @PlayerLoop private static func restart(_ world: FuzzWorld, _ media: ClaimedMedia) {
        let saved = world.save()
        world.end()
        let next = FuzzWorld(media)
        next.restore(saved)
        next.run(seconds: 3, untilAudible: true)
        next.end()
    }

    /// A file of any container, in which the target searches pictures like the daemon. The first byte chooses the file's name.
    private static let artworkSearch = FuzzTarget(
        name: "artwork-search",
        seeds: {
            let material = AudioMaterial.waves(frames: 300)
            let picture: [UInt8] =
                [0x89] + Array("PNG\r\n\u{1a}\n".utf8) + [0, 0, 0, 13] + Array("IHDR".utf8)
                + [0, 0, 1, 0, 0, 0, 1, 0, 8, 2, 0, 0, 0]
            func frame(_ name: String, _ flags: [UInt8], _ body: [UInt8]) -> [UInt8] {
                Array(name.utf8) + [0, 0, 0, UInt8(body.count)] + flags + body
            }
            let body = [0] + Array("image/png".utf8) + [0, 3, 0] + picture
            let empty = frame("APIC", [0, 1], []) + frame("APIC", [0, 0x40], [])
            let tags = [3, 4].flatMap { version in
                [frame("APIC", [0, 0], body), empty].map { frames in
                    [0] + Array("ID3".utf8) + [UInt8(version), 0, 0, 0, 0, 0, UInt8(frames.count)] + frames
                }
            }
            return tags + [material.flac(), material.wave(), material.aiff(), material.caf()].map { [1] + $0 }
        },
        run: { bytes in
            guard let first = bytes.first else { return }
            let folder = TemporaryFolder()
            let endings = ["mp3", "flac", "ogg", "wav", "ape", "dsf"]
            let path = folder.write(Array(bytes.dropFirst()), "a." + endings[Int(first) % endings.count])
            guard let file = FilePath(Array(path.utf8)) else { return }
            let task = ArtworkTask()
            // The child has targets of its own.
            task.fetch.giveUp()
            let result = ArtworkSearch().search(.file(file), ArtworkSearch.Rules(), root: { _ in nil }, task)
            for found in result.found { precondition(found.artwork.id.count < 256) }
        })
}
