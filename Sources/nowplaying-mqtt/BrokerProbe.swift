import CLinux
import Glibc
import LinuxSystem

/// Tests without blocking that an address accepts connections. The client library blocks in its own connect, and its
/// non-blocking connect spins if a broker with TLS does not answer (2.0.11, measured).
@PlayerLoop final class BrokerProbe {
    private let loop: EventLoop
    private let done: @PlayerLoop (_ failure: String?) -> Void
    private var addresses: [[UInt8]] = []
    private var descriptor: Int32 = -1
    private var source: EventSource?

    /// Connection attempts of the kernel to one host; the pauses between them double from one second.
    private static let attempts: Int32 = 4

    /// Tries all addresses of the host in turn. `done` is called once, in a later turn of the loop.
    init(_ loop: EventLoop, host: String, port: Int32, _ done: @escaping @PlayerLoop (_ failure: String?) -> Void) {
        self.loop = loop
        self.done = done
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, String(port), &hints, &found)
        guard result == 0 else {
            let why = String(cString: gai_strerror(result))
            loop.later { [weak self] in self?.done(why) }
            return
        }
        var entry = found
        while let address = entry?.pointee {
            addresses.append(Array(UnsafeRawBufferPointer(start: address.ai_addr, count: Int(address.ai_addrlen))))
            entry = address.ai_next
        }
        freeaddrinfo(found)
        loop.later { [weak self] in self?.next("the host has no address") }
    }

    isolated deinit { stop() }

    private func stop() {
        source?.release()
        source = nil
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// Tries the next address; `failure`: the reason why the previous one failed.
    private func next(_ failure: String) {
        stop()
        guard !addresses.isEmpty else { return done(failure) }
        let address = addresses.removeFirst()
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let family = address.withUnsafeBytes { Int32($0.load(as: sockaddr.self).sa_family) }
        descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { return next(SystemError.words(errno)) }
        var attempts = BrokerProbe.attempts
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_SYNCNT, &attempts, 4)
        let result = address.withUnsafeBytes {
            connect(descriptor, $0.bindMemory(to: sockaddr.self).baseAddress!, socklen_t($0.count))
        }
        guard result == 0 || errno == EINPROGRESS else { return next(SystemError.words(errno)) }
        source = loop.watch(descriptor, UInt32(EPOLLOUT.rawValue)) { [unowned self] _ in answered() }
    }

    private func answered() {
        var code: Int32 = 0
        var size = socklen_t(4)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
        guard code == 0 else { return next(SystemError.words(code)) }
        stop()
        done(nil)
    }
}
