import Glibc
import NowPlaying
import TestSupport
import Testing

@testable import LinuxSystem

/// Entries of the journal, and the explanations of known faults.
@Suite(.timeLimit(.minutes(2))) struct JournalEntryTests {
    private static let catalogue: String = {
        let here = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return "/" + here + "/etc/systemd/nowplayingd.catalog"
    }()

    @Test(
        "an address is shown without user, password, query and fragment",
        arguments: [
            ("http://example.org/a", "http://example.org/a"),
            ("http://user:secret@example.org:8000/a?token=secret#secret", "http://example.org:8000/a"),
            ("https://secret@example.org", "https://example.org"),
            ("http://user:sec@ret@example.org/a@b", "http://example.org/a@b"),
            ("http://user:secret@[::1]:80/", "http://[::1]:80/"), ("http://example.org?secret", "http://example.org"),
            ("http://example.org#secret@x/", "http://example.org"), ("http://@example.org/", "http://example.org/"),
            ("http://user:secret?@example.org/", "http://user:secret"),
            ("file:///music/a%3Fb%23c@d.flac", "file:///music/a%3Fb%23c@d.flac"),
            ("file:///music/a//b@c.flac", "file:///music/a//b@c.flac"), ("descriptor", "descriptor"), ("", ""),
            ("//user:secret@host/", "//host/"), ("a:/b@c", "a:/b@c"), ("http:/", "http:/"), ("http://", "http://"),
        ] as [(String, String)])
    func addresses(address: String, expected: String) { #expect(LogFields.publicAddress(address) == expected) }

    @Test("each field is one line, whatever its text is") func lines() {
        let hostile = "a\nPRIORITY=0\n\u{1B}[31m\u{0}\u{202E}"
        let fields = LogFields(.itemFailed, session: hostile, cause: .error, item: "http://u:p@h/\(hostile)?q")
        let text = String(
            decoding: SystemJournal.entry(hostile, priority: 4, program: "nowplayingd", fields), as: UTF8.self)
        let shown = #"a\u{a}PRIORITY=0\u{a}\u{1b}[31m\u{0}\u{202e}"#
        #expect(
            text == """
                MESSAGE=\(shown)
                PRIORITY=4
                SYSLOG_IDENTIFIER=nowplayingd
                MESSAGE_ID=1c6e4084654b48ca834ad4cdc49c0ad9
                NOWPLAYING_SESSION=\(shown)
                NOWPLAYING_CAUSE=error
                NOWPLAYING_ITEM=http://h/\(shown)

                """)
        let plain = SystemJournal.entry("ready", priority: 6, program: "nowplayingd", LogFields())
        #expect(String(decoding: plain, as: UTF8.self) == "MESSAGE=ready\nPRIORITY=6\nSYSLOG_IDENTIFIER=nowplayingd\n")
    }

    @Test("an entry reaches the socket as one datagram, and a full or missing journal holds up nobody") func sending()
        throws
    {
        let folder = TemporaryFolder()
        let path = folder.path("socket")
        let journal = try #require(SystemJournal(path))
        #expect(!journal.send("early", priority: 6, program: "p", LogFields()))
        let receiver = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(receiver) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(receiver, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        #expect(journal.send("late", priority: 3, program: "p", LogFields(.stateNotSaved)))
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(receiver, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        let expected = SystemJournal.entry("late", priority: 3, program: "p", LogFields(.stateNotSaved))
        #expect(Array(buffer.prefix(max(0, count))) == expected)
        // Nobody reads: the sender is refused, and does not wait.
        let begin = MonotonicTime.now
        var sent = 0
        while sent < 100_000, journal.send("more", priority: 6, program: "p", LogFields()) { sent += 1 }
        #expect(sent < 100_000 && MonotonicTime.now.seconds(since: begin) < 5)
        #expect(SystemJournal(String(repeating: "a", count: 200)) == nil)
    }

    @Test("each known fault has one explanation, and there are no others") func explanations() throws {
        let text = try String(contentsOfCatalogue: Self.catalogue)
        let entries = text.split(separator: "\n").filter { $0.hasPrefix("-- ") }.map { String($0.dropFirst(3)) }
        #expect(entries == KnownFault.allCases.map(\.rawValue))
        #expect(Set(entries).count == entries.count)
        for entry in entries {
            #expect(entry.utf8.count == 32 && entry.allSatisfy { $0.isHexDigit && !$0.isUppercase }, "\(entry)")
        }
    }

    private static let hasJournal = access("/usr/bin/journalctl", X_OK) == 0

    @Test(
        "journalctl takes the catalogue, and shows its explanations",
        .enabled(if: hasJournal, "journalctl is not installed"))
    func catalogueIsValid() throws {
        let folder = TemporaryFolder()
        _ = folder.folder("usr/lib/systemd/catalog")
        _ = folder.folder("var/lib/systemd/catalog")
        folder.file("usr/lib/systemd/catalog/nowplayingd.catalog", try String(contentsOfCatalogue: Self.catalogue))
        let root = "--root=" + folder.path
        let update = TestProcess.run(["journalctl", root, "--update-catalog"], environment: currentEnvironment())
        #expect(update.status == 0, "\(update.text)")
        let list = TestProcess.run(["journalctl", root, "--list-catalog"], environment: currentEnvironment())
        let lines = list.text.split(separator: "\n")
        #expect(lines.count == KnownFault.allCases.count)
        for fault in KnownFault.allCases {
            #expect(lines.contains { $0.hasPrefix("\(fault.rawValue) nowplayingd: ") }, "\(fault)")
        }
    }
}

extension String {
    /// The content of a text file.
    fileprivate init(contentsOfCatalogue path: String) throws {
        let file = try #require(fopen(path, "re"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        self = String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }
}
