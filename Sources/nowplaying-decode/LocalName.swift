import CCurl
import ChildDecoding
import Glibc
import NowPlaying

/// Resolves host names that end in `.local`: the hosts themselves answer. Other programs use Avahi for this; its local
/// socket is not allowed here.
enum LocalName {
    /// Seconds to wait for an answer after each of the questions.
    private static let pauses = [0.3, 0.7, 1.0]
    /// Seconds for which an answer is kept, because the parts of one source follow one another.
    private static let kept = 60.0
    private nonisolated(unsafe) static var known: [String: (addresses: [String], time: Double)] = [:]

    /// Addresses of a host as text; empty: the name does not end in `.local`, or no host answers. Waits for the answer.
    static func addresses(of host: String) -> [String] {
        let now = MonotonicTime.now.seconds
        if let old = known[host], now - old.time < kept { return old.addresses }
        guard let name = MulticastName(host, number: UInt16.random(in: 1 ... .max)) else { return [] }
        let found = ask(name)
        if !found.isEmpty { known[host] = (found, now) }
        return found
    }

    private static func ask(_ name: MulticastName) -> [String] {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var group = sockaddr_in()
        group.sin_family = sa_family_t(AF_INET)
        group.sin_port = UInt16(5353).bigEndian
        group.sin_addr.s_addr = UInt32(0xE000_00FB).bigEndian
        let question = name.question
        for pause in pauses {
            let sent = withUnsafePointer(to: &group) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sendto(descriptor, question, question.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard sent == question.count else { return [] }
            let deadline = MonotonicTime.now.seconds + pause
            while case let left = deadline - MonotonicTime.now.seconds, left > 0 {
                var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&polled, 1, Int32(left * 1000) + 1) > 0 else { continue }
                let found = receive(descriptor, name)
                if !found.isEmpty { return found }
            }
        }
        return []
    }

    /// The addresses in a received message, if the sender is in the local network.
    private static func receive(_ descriptor: Int32, _ name: MulticastName) -> [String] {
        var bytes = [UInt8](repeating: 0, count: 9000)
        var sender = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutablePointer(to: &sender) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(descriptor, &bytes, bytes.count, 0, $0, &size)
            }
        }
        guard count > 0 else { return [] }
        let zone = withUnsafeBytes(of: sender.sin_addr) { AddressZone(ipv4: $0) }
        guard zone == .local || zone == .loopback else { return [] }
        return name.addresses(in: Array(bytes[..<count])).compactMap(text)
    }

    /// An address for libcurl. Nil for a link-local IPv6 address, which needs the name of the link.
    private static func text(_ address: [UInt8]) -> String? {
        if address.count == 4 { return address.map(String.init).joined(separator: ".") }
        if address[0] == 0xFE, address[1] & 0xC0 == 0x80 { return nil }
        let groups = stride(from: 0, to: 16, by: 2).map {
            String(Int(address[$0]) << 8 | Int(address[$0 + 1]), radix: 16)
        }
        return "[\(groups.joined(separator: ":"))]"
    }
}
