import AudioCore
import AudioDecoders
import Glibc
import NowPlaying
import TestSupport
import Testing

@_silgen_name("setfsuid") private func setFileSystemUser(_ user: UInt32) -> Int32

/// Files that cannot play are refused with a message, at once.
@Suite struct UnplayableFileTests {
    let folder = TemporaryFolder()

    private func error(_ path: String) -> DecodingError? {
        do throws(DecodingError) {
            _ = try DecoderRegistry.openDecoder(path: path)
            return nil
        } catch { return error }
    }

    @Test("what is no regular file") func irregularFiles() {
        mkfifo(folder.path("fifo"), 0o600)
        symlink(folder.path("fifo"), folder.path("link"))
        symlink("loop", folder.path("loop"))
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(folder.path("socket").utf8)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, size) }
        }
        #expect(bound == 0)
        let file = folder.write([1], "file")
        let expected = [
            (folder.path("fifo"), "it is a FIFO, not a regular file"),
            (folder.path("link"), "it is a FIFO, not a regular file"),
            (folder.path("loop"), "its path contains a loop of symbolic links"),
            (folder.path("socket"), "it is a socket, not a regular file"),
            (folder.path, "it is a folder, not a regular file"), ("/dev/zero", "it is a device, not a regular file"),
            ("/dev/null", "it is a device, not a regular file"),
            (folder.path("missing"), "there is no such file"), ("", "there is no such file"),
            (file + "/below", "a part of its path is not a folder"),
            (folder.path(String(repeating: "a", count: 300)), "its name is too long"),
            (file + "\u{0}.flac", "its name contains a zero byte, which no file can have"),
        ]
        for (path, message) in expected { #expect(error(path) == DecodingError(.unavailable, message)) }
    }

    @Test("without permission") func withoutPermission() {
        let path = folder.write(AudioMaterial.noise(frames: 10).wave(), "a.wav")
        chmod(path, 0)
        // Root may read everything; on Linux the user for files can be changed for this thread alone.
        let isRoot = geteuid() == 0
        if isRoot { _ = setFileSystemUser(65534) }
        let error = error(path)
        if isRoot { _ = setFileSystemUser(0) }
        #expect(error?.kind == .unavailable)
        #expect(error?.message.hasPrefix("no permission to read it") == true)
    }

    @Test("a medium that reports an error") func failingMedium() throws {
        // The page at 0 of a process can't be read: EIO, as from a broken disk.
        let file = try MediaFile(path: "/proc/self/mem")
        let error = #expect(throws: DecodingError.self) { try file.bytes(at: 0, count: 16) }
        #expect(error?.kind == .mediaGone)
    }

    @Test("descriptors that are of no use") func uselessDescriptors() {
        func error(_ descriptor: Int32) -> DecodingError? {
            do throws(DecodingError) {
                _ = try DecoderRegistry.openDecoder(descriptor: descriptor)
                return nil
            } catch { return error }
        }
        let path = folder.write(AudioMaterial.noise(frames: 10).wave(), "a.wav")
        #expect(error(open(path, O_WRONLY))?.message == "the descriptor handed over is not open for reading")
        // O_PATH, of which Glibc's module does not know.
        #expect(error(open(path, 0o10_000_000))?.message == "the descriptor handed over is not open for reading")
        #expect(error(-1)?.message == "the descriptor handed over is not open")
        #expect(error(open(path, O_RDWR)) == nil)
        var pipes: [Int32] = [0, 0]
        pipe(&pipes)
        #expect(error(pipes[0])?.message == "it is a FIFO, not a regular file")
        close(pipes[1])
    }

    @Test("content of other kinds") func foreignContent() {
        let filler = [UInt8](repeating: 0, count: 2000)
        func message(_ start: String, _ rest: [UInt8] = []) -> String? {
            openingError(Array(start.utf8) + rest + filler, folder)?.message
        }
        #expect(openingError([], folder)?.message == "it is empty")
        #expect(openingError([0], folder)?.message == "not in a known audio format")
        #expect(message("") == "not in a known audio format")
        let text = Array(String(repeating: "fLa is not fLaC.\n", count: 50).utf8)
        #expect(openingError(text, folder)?.message == "not in a known audio format: it is text")
        #expect(message("OggS") == "this version does not support Ogg without sound")
        #expect(
            message("", [0xFF, 0xFB, 0x90, 0x64]) == "not in a known audio format")
        #expect(
            message("ID3", [4, 0, 0, 0, 0, 1, 0]) == "it has an ID3 tag, but no MPEG audio follows it")
        #expect(message("MThd") == "this version does not support MIDI")
        let media: [UInt8] = [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11]
        let foreign: [(String, [UInt8])] = [
            ("", [0xFF, 0xF1, 0x50, 0x80]), ("", [0, 0, 0, 0x20] + Array("ftypM4A ".utf8)),
            ("", [0x1A, 0x45, 0xDF, 0xA3]), ("wvpk", []), ("", media),
        ]
        for (start, rest) in foreign {
            let words = message(start, rest) ?? ""
            #expect(words.isEmpty == false)
            if DecodeProgram.path == nil { #expect(words.contains("nowplaying-decode"), "\(words)") }
        }
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let garbage = (0..<3000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            #expect(openingError(garbage, folder)?.kind == .notRecognised)
        }
    }

    @Test("the name does not matter, not even whether it is text") func names() throws {
        let material = AudioMaterial.noise(frames: 500)
        let flac = try DecoderRegistry.openDecoder(path: folder.write(material.flac(), "a.wav"))
        #expect(flac.mediaFormat.codec == "FLAC")
        #expect(rename(folder.path("a.wav"), folder.path("b")) == 0)
        let raw = Array(folder.path.utf8) + Array("/\u{E9}".utf8) + [0xE9, 0xFF]
        let renamed = (raw + [0]).withUnsafeBytes {
            rename(folder.path("b"), $0.baseAddress!.assumingMemoryBound(to: CChar.self))
        }
        #expect(renamed == 0)
        try checkConformance(DecoderRegistry.openDecoder(pathBytes: raw), expected: expectedBytes(material, .int16))
    }
}
