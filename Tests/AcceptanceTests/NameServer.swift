import Glibc
import LinuxSystem
import Synchronization
import TestSupport

/// A name server on port 53 of one of our addresses: it fails until it knows an address, which all names have then.
final class NameServer: Sendable {
    private let descriptor: Int32
    private let shared = Shared()

    private final class Shared: Sendable {
        let known = Mutex<[UInt8]?>(nil)
        let failures = Atomic<Int>(0)
    }

    /// A server at an IPv4 address of this machine; nil: the port is taken, or not ours.
    init?(at address: String) {
        let made = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        descriptor = made
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = UInt16(53).bigEndian
        inet_pton(AF_INET, address, &place.sin_addr)
        let bound = withUnsafeBytes(of: &place) {
            bind(made, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count)) == 0
        }
        guard bound else {
            close(made)
            return nil
        }
        let started = DetachedThread.start("name server") { [shared] in
            var peer = sockaddr_in()
            var question = [UInt8](repeating: 0, count: 1500)
            while true {
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let answer = withUnsafeMutableBytes(of: &peer) { peer -> Bool in
                    let from = peer.baseAddress!.assumingMemoryBound(to: sockaddr.self)
                    let count = recvfrom(made, &question, question.count, 0, from, &length)
                    guard count > 12 else { return false }
                    let known = shared.known.withLock { $0 }
                    if known == nil { shared.failures.wrappingAdd(1, ordering: .relaxed) }
                    let reply = Self.reply(to: Array(question[..<count]), known)
                    _ = sendto(made, reply, reply.count, 0, from, length)
                    return true
                }
                guard answer else { break }
            }
            close(made)
        }
        precondition(started)
    }

    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Questions that it has answered with a failure.
    var failures: Int { shared.failures.load(ordering: .relaxed) }

    /// All names have this IPv4 address from now on.
    func know(_ address: String) {
        var bytes = in_addr()
        inet_pton(AF_INET, address, &bytes)
        shared.known.withLock { $0 = withUnsafeBytes(of: bytes) { Array($0) } }
    }

    /// SERVFAIL, or the address (RFC 1035 §4.1).
    private static func reply(to question: [UInt8], _ address: [UInt8]?) -> [UInt8] {
        let name = question[12...].firstIndex(of: 0) ?? question.count - 5
        let asked = Array(question[12...min(question.count - 1, name + 4)])
        let isAddress = asked.suffix(4).elementsEqual([0, 1, 0, 1])
        let answer = address.flatMap { isAddress ? [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4] + $0 : nil } ?? []
        let head = [0x81, address == nil ? 0x82 : 0x80, 0, 1, 0, answer.isEmpty ? 0 : 1, 0, 0, 0, 0] as [UInt8]
        return question[..<2] + head + asked + answer
    }
}
