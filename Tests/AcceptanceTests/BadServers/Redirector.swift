import TestSupport
import Testing

/// A server of https that redirects to any address.
final class Redirector: Sendable {
    private let folder: TemporaryFolder
    private let process: TestProcess
    private let port: Substring

    /// Starts the server with a certificate of its own.
    static func start() async throws -> Redirector {
        let folder = TemporaryFolder()
        let made = AudioMaterial.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=redirector", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder.path("key"),
                "-out", folder.path("certificate.pem"),
            ])
        try #require(made == 0, "openssl makes no certificate")
        let command = "exec openssl s_server -accept 127.0.0.1:0 -cert certificate.pem -key key -HTTP"
        let process = await LoopThread.run {
            TestProcess(["sh", "-c", "cd \(folder.path) && \(command)"], output: true)
        }
        // It names its port as soon as it listens.
        let line = process.line { $0.hasPrefix("ACCEPT") }
        return Redirector(folder, process, try #require(line?.split(separator: ":").last, "openssl does not listen"))
    }

    private init(_ folder: TemporaryFolder, _ process: TestProcess, _ port: Substring) {
        (self.folder, self.process, self.port) = (folder, process, port)
    }

    deinit { process.end() }

    /// Path of the file with its certificate.
    var certificate: String { folder.path("certificate.pem") }

    /// An address that redirects to this one. `number`: another one for each.
    func redirect(to address: String, number: Int) -> String {
        let answer = "HTTP/1.0 302 Found\r\nLocation: \(address)\r\nContent-Length: 0\r\n\r\n"
        _ = folder.write(Array(answer.utf8), "\(number)")
        return "https://127.0.0.1:\(port)/\(number)"
    }
}
