import AudioDecoders
import Glibc
import TestSupport
import Testing

/// The list of formats has those whose decoder can be loaded.
@Suite struct FormatSupportTests {
    private let folder = TemporaryFolder()

    private func program(_ line: String) -> String {
        let path = folder.write(Array("#!/bin/sh\n\(line)\n".utf8), "program")
        chmod(path, 0o755)
        return path
    }

    @Test("a child that does not start plays nothing", arguments: ["exit 127", "kill -9 $$", nil])
    func brokenChild(line: String?) {
        let formats = FormatSupport.all(program: line.map(program))
        #expect(formats.first { $0.name == "AAC" }?.plays == false)
        for name in ["FLAC", "MP3", "Ogg Vorbis", "Ogg Opus", "WAV"] {
            #expect(formats.first { $0.name == name }?.plays == true, "\(name)")
        }
        #expect(formats.allSatisfy { $0.package.hasPrefix("lib") })
    }

    @Test("a child that starts is asked once, one that does not each time") func child() {
        let mark = folder.path("mark")
        let path = program("[ \"$1\" = --version ] && [ -e \(mark) ]")
        #expect(!DecodeProgram.starts(path) && !DecodeProgram.starts(folder.path("none")))
        _ = folder.write([], "mark")
        #expect(DecodeProgram.starts(path))
        unlink(mark)
        #expect(DecodeProgram.starts(path))
        if let own = DecodeProgram.path { #expect(DecodeProgram.starts(own)) }
    }
}
