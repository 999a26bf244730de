import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// An item's files are open only while the item is of interest: a deleted file frees its space on the disk,
    /// a stick can be pulled out.
    @Suite(.timeLimit(.minutes(5))) struct HandedOverTests {
        @Test("a file that was handed over is closed when it is in the queue no more, heard, liked or followed")
        func closed() async throws {
            let daemon = await RealDaemon.silent()
            let (a, b) = (daemon.folder.silence("a.wav", seconds: 60), daemon.folder.silence("b.wav", seconds: 60))
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("queue.add", ["items": [["descriptor": 0], ["descriptor": 1]], "play": true], files: [a, b])
            _ = client.event("play")
            // It is remembered on the disk, by a worker.
            #expect(client.call("like") != nil)
            client.call("nextTrack")
            _ = client.event("track")
            #expect(daemon.has(open: a) && daemon.has(open: b))
            client.call("queue.remove", ["ids": [1]])
            #expect(becomes { !daemon.has(open: a) })
            #expect(daemon.has(open: b))
            #expect(client.call("like") != nil)
            client.call("queue.clear")
            #expect(becomes { !daemon.has(open: b) })
            #expect(daemon.stop() == 0)
        }

        @Test("the same of one whose picture was shown", arguments: ["flac", "m4a"])
        func pictured(_ kind: String) async throws {
            guard kind == "flac" || RealDaemon.hasDecodeProgram else { return }
            let folder = TemporaryFolder()
            let wave = folder.silence("a.wav", seconds: 60)
            let (image, file) = (folder.path("p.jpg"), folder.path("a.\(kind)"))
            let make = ["-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=size=40x40", "-frames:v", "1", image]
            try #require(AudioMaterial.run("ffmpeg", make) == 0)
            let join = ["-map", "0", "-map", "1", "-c:v", "copy", "-disposition:v", "attached_pic", file]
            try #require(AudioMaterial.run("ffmpeg", ["-v", "error", "-y", "-i", wave, "-i", image] + join) == 0)
            let conf = folder.file("conf", "[daemon]\ncache-directory = \(folder.path("cache"))\n")
            let daemon = await RealDaemon.start(nil, output: "null", in: folder, ["--config", conf])
            let client = daemon.connect()
            client.call("queue.add", ["items": [["descriptor": 0]], "play": true], files: [file])
            func picture() -> JSONValue? {
                client.call("nowPlaying.get")?["item"]?["artwork"]?.arrayValue?.first?["id"]
            }
            #expect(becomes { picture() != nil })
            let id = try #require(picture())
            #expect(client.call("artwork.get", ["id": id]) != nil)
            #expect(daemon.has(open: file))
            client.call("queue.clear")
            #expect(becomes { !daemon.has(open: file) })
            #expect(daemon.stop() == 0)
        }
    }
}

extension RealDaemon {
    /// True if it has this file open.
    fileprivate func has(open path: String) -> Bool {
        ProcessFigures.targets(of: process.pid).contains(path)
    }
}
