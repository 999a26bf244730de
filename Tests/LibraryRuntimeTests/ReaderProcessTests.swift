import AudioDecoders
import CLinux
import Glibc
import LibraryRuntime
import TestSupport
import Testing
import TrackReading

/// The confined process that reads tracks, and programs that stand for it.
@Suite struct ReaderProcessTests {
    private let place = TemporaryFolder()

    private func track(_ number: Int) -> String {
        var options = FLACOptions()
        options.blocks = [AudioMaterial.vorbisComments([Array("TITLE=\(number)".utf8)])]
        return place.write(AudioMaterial.noise(frames: 100).flac(options), "\(number).flac")
    }

    private func opened(_ paths: [String]) -> [Int32] { paths.map { linux_open($0, O_RDONLY | O_CLOEXEC, 0) } }

    private func title(_ outcome: ReaderProcess.Outcome) -> String? {
        if case .found(let facts) = outcome { facts.tags.first(.title) } else { nil }
    }

    @Test("files of one order are answered in their order, and what is no sound is refused")
    func order() throws {
        let reader = ReaderProcess()
        var paths = (0..<14).map { track($0) }
        paths.insert(place.write(Array("text".utf8), "text.mp3"), at: 3)
        let files = opened(paths) + [linux_open(place.path, O_RDONLY | O_CLOEXEC, 0)]
        defer { for file in files { close(file) } }
        for _ in 0..<3 {
            let outcomes = try reader.read(files)
            let titles: [String?] = ["0", "1", "2", nil] + (3..<14).map { "\($0)" } + [nil]
            #expect(outcomes.map(title) == titles)
            #expect(outcomes[3] == .refused(.notRecognised) && outcomes[15] == .refused(.notAFile))
        }
        #expect(reader.processorTime > 0)
        let pid = try #require(reader.pid)
        reader.end()
        #expect(reader.pid == nil)
        while kill(pid, 0) == 0 { sched_yield() }
    }

    /// A program that is the real one but for a wrapper that does this first.
    private func standIn(_ body: String) throws -> String {
        let real = try #require(FactsChild.path)
        let text = "#!/bin/bash\nexport PATH=/usr/bin:/bin\n\(body)\nexec \(real) \"$@\"\n"
        let path = place.write(Array(text.utf8), "child")
        chmod(path, 0o700)
        return path
    }

    @Test("a process that is ended from outside is replaced, and no file pays for it")
    func ended() throws {
        let reader = ReaderProcess()
        defer { reader.end() }
        let files = opened((0..<16).map { track($0) })
        defer { for file in files { close(file) } }
        for _ in 0..<20 {
            _ = try reader.read(files)
            kill(try #require(reader.pid), SIGKILL)
            #expect(try reader.read(files).compactMap(title).count == 16)
        }
    }

    @Test("a process that never starts to read is no fault of the files")
    func broken() throws {
        let files = opened([track(1)])
        defer { for file in files { close(file) } }
        #expect(throws: (any Error).self) { try ReaderProcess(program: try standIn("exit 1")).read(files) }
        #expect(throws: (any Error).self) { try ReaderProcess(program: nil).read(files) }
        #expect(throws: (any Error).self) { try ReaderProcess(program: place.path("none")).read(files) }
    }

    /// A program that takes an order, marks the file of this index as begun, and does this.
    private func reads(_ index: Int, _ body: String) throws -> String {
        // The descriptors of an order follow those that the program was started with.
        let mark = """
            import array, os, socket, sys, time
            s = socket.socket(fileno=3)
            def order():
                data, control, flags, address = s.recvmsg(8, socket.CMSG_SPACE(64))
                files = array.array("i")
                for level, kind, content in control: files.frombytes(content[:len(content) - len(content) % 4])
                return files
            def answer(index, kind=33, body=b"\\3"):
                s.sendall(bytes([kind, 1, index, 0, len(body), 0, 0, 0]) + body)
            files = order()
            for f in files[:\(index) + 1]: os.lseek(f, 1, 0)
            """
        let text = "#!/usr/bin/python3\n\(mark)\n\(body)\n"
        let path = place.write(Array(text.utf8), "child.py")
        chmod(path, 0o700)
        return path
    }

    @Test("a process that starts late costs no file, whatever a file may take")
    func late() throws {
        let files = opened((0..<3).map { track($0) })
        defer { for file in files { close(file) } }
        let late = "time.sleep(2.5)\nfor i, f in enumerate(files): os.lseek(f, 1, 0); answer(i)\ntime.sleep(60)"
        let reader = ReaderProcess(program: try reads(-1, late), patience: 1)
        #expect(try reader.read(files) == Array(repeating: .refused(.notRecognised), count: 3))
    }

    @Test("a file that hangs the process or makes it lie costs itself; the others of its order are read")
    func faults() throws {
        let files = opened((0..<4).map { track($0) })
        defer { for file in files { close(file) } }
        let refused = ReaderProcess.Outcome.refused(.notRecognised)
        let rest = "\nwhile True:\n    for i, f in enumerate(files): os.lseek(f, 1, 0); answer(i)\n    files = order()"
        let once =
            "if os.path.exists('\(place.path)/again'):\(rest.replacing("\n", with: "\n    "))\nopen('\(place.path)/again', 'w')\n"
        let cases: [(body: String, outcome: ReaderProcess.Outcome)] = [
            ("while True: pass", .hung), ("s.sendall(b'HTTP/1.1 200 OK'); time.sleep(60)", .lied("an unknown answer")),
            ("answer(1); time.sleep(60)", .lied("an answer about another file")),
            ("answer(0, 32, b''); time.sleep(60)", .lied("a message that ends too soon")),
            ("s.sendall(b'\\x20\\x02' + bytes(6)); time.sleep(60)", .lied("an answer of another version")),
            ("s.sendall(b'\\x20\\x01\\0\\0\\xFF\\xFF\\xFF\\x7F')", .lied("an answer of 2147483647 bytes")),
        ]
        for (body, outcome) in cases {
            unlink(place.path("again"))
            let reader = ReaderProcess(program: try reads(2, once + body), patience: 1)
            #expect(try reader.read(files) == [refused, refused, outcome, refused], "\(body)")
        }
        // The reader tries a file that kills once more, alone.
        let kills = """
            while True:
                for i, f in enumerate(files):
                    os.lseek(f, 1, 0)
                    if os.path.basename(os.readlink('/proc/self/fd/%d' % f)) == '2.flac': os.kill(os.getpid(), 11)
                    answer(i)
                files = order()
            """
        let reader = ReaderProcess(program: try reads(-1, kills))
        #expect(try reader.read(files) == [refused, refused, .killed, refused])
    }
}
