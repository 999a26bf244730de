import ChildDecoding
import TestSupport

#if NOWPLAYING_DECODE
    import CFFmpeg

    @testable import nowplaying_decode
#endif

/// Code of nowplaying-decode for foreign bytes, in this process without the sandbox. FFmpeg itself is the system's, so the
/// sanitizer only checks its uses of memory from malloc(3), and its coverage by an input is unknown.
extension FuzzTarget {
    #if NOWPLAYING_DECODE
        static let child: [FuzzTarget] = [childMedia, childPicture, childAddress]
    #else
        /// None: it is not built.
        static let child: [FuzzTarget] = []
    #endif
}

#if NOWPLAYING_DECODE
    extension FuzzTarget {
        /// A file of any kind that FFmpeg knows is opened as the child does it, played for a while and sought in.
        private static let childMedia = FuzzTarget(
            name: "foreign-media",
            seeds: {
                let material = AudioMaterial.waves(frames: 3000)
                let kinds: [(ending: String, options: [String])] = [
                    ("aac", ["-codec:a", "aac"]), ("m4a", ["-codec:a", "aac", "-metadata", "title=T"]),
                    ("m4a", ["-codec:a", "alac"]), ("wv", ["-codec:a", "wavpack", "-metadata", "title=T"]),
                    ("tta", ["-codec:a", "tta"]), ("mka", ["-codec:a", "flac", "-metadata", "title=T"]),
                    ("webm", ["-codec:a", "libopus"]), ("wma", ["-codec:a", "wmav2", "-metadata", "title=T"]),
                    ("ac3", ["-codec:a", "ac3"]), ("ts", ["-codec:a", "mp2"]), ("caf", ["-codec:a", "alac"]),
                ]
                return kinds.flatMap { made(material, $0.ending, $0.options) } + musepack(material)
            },
            run: { bytes in
                prepare()
                guard let media = try? Media(MemoryInput(bytes), nil) else { return }
                let opened = media.opened
                precondition(opened.format.bytesPerFrame > 0 && (opened.length ?? 0) >= 0)
                // The daemon can read the answer of the child.
                guard let copy = try? OpenedMedia(opened.bytes) else { preconditionFailure("it can't be encoded") }
                precondition(copy.format == opened.format && copy.tags.count <= WireTag.maximumCount)
                play(media)
                for place in [1000, 0, (opened.length ?? 1) - 1, Int64.max / 4] where place >= 0 {
                    if (try? media.seek(to: place)) != nil { play(media) }
                }
            })

        private static func play(_ media: Media) {
            for _ in 0..<30 {
                guard let step = try? media.next() else { return }
                switch step {
                case .frames(let frames): precondition(frames.count % media.opened.format.bytesPerFrame == 0)
                case .tags(let tags): precondition((try? WireTag.tags(WireTag.bytes(tags))) != nil)
                case .interrupted: break
                case .end: return
                }
            }
        }

        /// Pictures inside of a file, and the first frame of a film.
        private static let childPicture = FuzzTarget(
            name: "foreign-picture",
            seeds: {
                let source = "testsrc=size=32x24:rate=5:duration=0.4"
                let still = ["-f", "lavfi", "-i", source, "-map", "0:a", "-map", "1:v", "-frames:v", "1"]
                let film = ["-f", "lavfi", "-i", source, "-map", "1:v"]
                let cover = still + ["-codec:v", "png", "-disposition:v", "attached_pic"]
                let material = AudioMaterial.waves(frames: 300)
                return made(material, "gif", film) + made(material, "mp4", film + ["-codec:v", "mpeg4"])
                    + made(material, "webm", film + ["-codec:v", "libvpx"])
                    + made(material, "m4a", cover + ["-codec:a", "aac"])
                    + made(material, "flac", cover + ["-codec:a", "flac"])
            },
            run: { bytes in
                prepare()
                let pictures = (try? Pictures.embedded(MemoryInput(bytes))) ?? []
                precondition(pictures.count <= WirePicture.maximumCount)
                precondition(pictures.reduce(0) { $0 + $1.bytes.count } <= WirePicture.maximumBytes)
                guard let still = try? FirstFrame.picture(MemoryInput(bytes)) else { return }
                precondition((1...WirePicture.maximumBytes).contains(still.count))
            })

        /// An address in the form of lists and answers of servers. The bytes up to the first line feed are its base.
        private static let childAddress = FuzzTarget(
            name: "foreign-address",
            seeds: {
                [
                    "http://h:8000/a\nb/../c?x#y", "\nhttps://user:p%40ss@[fe80::1%25eth0]:443/a b",
                    "https://h/list/\n//other/é", "http://h/\nfile:///etc/passwd",
                ].map { Array($0.utf8) }
            },
            run: { bytes in
                let parts = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
                let base = String(decoding: parts[0], as: UTF8.self)
                let text = String(decoding: parts.dropFirst().first ?? [], as: UTF8.self)
                guard let address = CurlSupport.address(text, relativeTo: base.isEmpty ? nil : base) else { return }
                precondition(["http", "https"].contains(address.scheme) && !address.host.isEmpty)
                // The host does not change, and the password is gone.
                guard let again = CurlSupport.address(address.url) else { return }
                precondition(again.user == nil && again.password == nil && again.origin == address.origin)
            })

        /// As the child has it: no words, and little memory.
        private static func prepare() {
            av_log_set_level(AV_LOG_QUIET)
            av_max_alloc(512 << 20)
        }

        /// The material coded by Musepack's encoder, if there is one.
        private static func musepack(_ material: AudioMaterial) -> [[UInt8]] {
            let folder = TemporaryFolder()
            let source = folder.write(material.wave(), "source.wav")
            let status = AudioMaterial.run("mpcenc", ["--silent", source, folder.path("made.mpc")])
            return status == 0 ? [folder.read("made.mpc")] : []
        }
    }
#endif
