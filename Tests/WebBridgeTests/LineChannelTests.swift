import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import WebBridge

/// Lines and open files of the daemon.
@Suite(.timeLimit(.minutes(5))) struct LineChannelTests {
    init() { LoopThread.start() }

    @Test("a file stays with the line that names it, behind one without a file") @PlayerLoop func files() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("daemon.sock")
        let listener = OwnedDescriptor(try UnixSocket.listen(path))
        let channel = try LineChannel(ReadySet(.current), [path])
        let daemon = OwnedDescriptor(try UnixSocket.accept(listener.number))
        let file = OwnedDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC))
        // The channel finds both at once.
        for (line, file) in [
            (#"{"jsonrpc":"2.0","id":1,"error":{"code":100,"message":"none"}}"#, nil),
            (#"{"jsonrpc":"2.0","id":2,"result":{"id":"a","descriptor":0}}"#, file.number),
        ] as [(String, Int32?)] {
            let bytes = Array((line + "\n").utf8)
            #expect(bytes.withUnsafeBytes { UnixSocket.send(daemon.number, $0, with: file) } == bytes.count)
        }
        var found: [Bool] = []
        await withCheckedContinuation { continuation in
            channel.onLine = { _, file in
                found.append(file != nil)
                if found.count == 2 { continuation.resume() }
            }
        }
        channel.close()
        #expect(found == [false, true])
    }
}
