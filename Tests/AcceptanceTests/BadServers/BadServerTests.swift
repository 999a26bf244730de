import ControlProtocol
import Glibc
import LinuxSystem
import Synchronization
import TestSupport
import Testing

extension Acceptance {
    /// Servers that behave badly, in all pairs of their properties: sound, published states and loaded bytes.
    @Suite(.timeLimit(.minutes(30)), .enabled(if: RealDaemon.hasDecodeProgram, "nowplaying-decode is not built"))
    struct BadServerTests {
        init() { LoopThread.start() }

        @Test("the table has each pair of values, and the pairs that no server has are listed with their reason")
        func table() {
            let possible = Set(BadServerRow.possible.flatMap(\.pairs))
            let impossible = Set(BadServerRow.cross.flatMap(\.pairs)).subtracting(possible)
            #expect(Set(impossible.map(\.description)) == Set(BadServerRow.impossiblePairs.keys))
            #expect(Set(BadServerRow.covering.flatMap(\.pairs)) == possible)
            #expect((50...70).contains(BadServerRow.covering.count), "\(BadServerRow.covering.count) rows")
        }

        @Test("each row is heard, published and loaded as it should be") func rows() async throws {
            let material = try BadServerMaterial(TemporaryFolder())
            let redirector = try Redirector()
            let rows = environmentHas("NOWPLAYING_NIGHTLY") ? BadServerRow.possible : BadServerRow.covering
            // Those that wait long begin first.
            let order = rows.sorted { $0.patience > $1.patience }
            let left = Mutex(ArraySlice(order))
            let faults = Mutex([String]())
            await withTaskGroup { group in
                for _ in 0..<Self.rowsAtOnce {
                    group.addTask {
                        await withCheckedContinuation { done in
                            let started = DetachedThread.start("row", stackBytes: 2 << 20) {
                                while let row = left.withLock({ $0.popFirst() }) {
                                    let found = BadServerRun(row, material, redirector).faults
                                    faults.withLock { $0 += found.map { "\(row.testDescription): \($0)" } }
                                }
                                done.resume()
                            }
                            precondition(started)
                        }
                    }
                }
            }
            for fault in faults.withLock({ $0.sorted() }) { Issue.record(Comment(rawValue: fault)) }
        }

        /// Most rows only wait for a server.
        private static let rowsAtOnce = 12
    }
}

extension BadServerRow {
    /// Seconds that it waits, about.
    fileprivate var patience: Int {
        switch trouble {
        case .silence: 15
        case .notFound: 10
        case .drop: hasLength && sendsParts ? 0 : 10
        case .redirects, .restart: 0
        }
    }
}

/// A server of https that redirects to any address.
final class Redirector: Sendable {
    let folder = TemporaryFolder()
    private let process: TestProcess
    private let port: String

    init() throws {
        let made = AudioMaterial.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=redirector", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder.path("key"),
                "-out", folder.path("certificate.pem"),
            ])
        try #require(made == 0)
        let command = "exec openssl s_server -accept 127.0.0.1:0 -cert certificate.pem -key key -HTTP"
        process = TestProcess(["sh", "-c", "cd \(folder.path) && \(command)"], output: true)
        // It names its port as soon as it listens.
        port = String(try #require(process.line { $0.hasPrefix("ACCEPT") }?.split(separator: ":").last))
    }

    deinit { process.end() }

    /// An address that redirects to this one.
    func redirect(to address: String, number: Int) -> String {
        _ = folder.write(Array("HTTP/1.0 302 Found\r\nLocation: \(address)\r\nContent-Length: 0\r\n\r\n".utf8), "\(number)")
        return "https://127.0.0.1:\(port)/\(number)"
    }
}
