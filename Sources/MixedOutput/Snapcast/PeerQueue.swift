import Glibc
import LinuxSystem

/// The other end of a TCP connection within this machine: the kernel reports the bytes that it has not read yet
/// (sock_diag(7)).
struct PeerQueue {
    private let connection: Int32
    private let netlink: OwnedDescriptor
    /// Request for the socket of the other end.
    private let question: [UInt8]

    private static let diagnosis: Int32 = 4
    private static let byFamily: UInt16 = 20
    /// SIOCOUTQNSD: bytes of our end that were not sent yet.
    private static let unsent: UInt = 0x894B
    /// Bytes of the head of a message, and place of the socket's receive queue in an answer.
    private static let headLength = 16
    private static let queue = 16 + 56..<16 + 60

    /// The queue at the other end of a connected descriptor, which the caller keeps. Nil: the other end is on another
    /// machine, or the kernel does not report it.
    init?(_ connection: Int32) {
        guard let theirs = Self.end(connection, getpeername), let ours = Self.end(connection, getsockname) else {
            return nil
        }
        let number = socket(AF_NETLINK, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), Self.diagnosis)
        guard number >= 0 else { return nil }
        netlink = OwnedDescriptor(number)
        self.connection = connection
        let noCookie = [UInt8](repeating: 255, count: 8)
        // The other end's socket has the two ends in reverse.
        var request: [UInt8] = [theirs.family, UInt8(IPPROTO_TCP), 0, 0, 255, 255, 255, 255]
        request += theirs.port
        request += ours.port
        request += theirs.address
        request += ours.address
        request += [UInt8](repeating: 0, count: 4)
        request += noCookie
        let length = UInt32(Self.headLength + request.count)
        question =
            Self.native(length) + Self.native(UInt32(Self.byFamily) | 1 << 16) + Self.native(UInt32(1))
            + Self.native(UInt32(0)) + request
        guard unread != nil else { return nil }
    }

    /// Sent bytes that the other end has not read; nil: unknown.
    var unread: Int? {
        var answer = [UInt8](repeating: 0, count: 1024)
        let (sent, received) = question.withUnsafeBytes { question in
            let sent = send(netlink.number, question.baseAddress, question.count, Int32(MSG_DONTWAIT))
            return (sent, recv(netlink.number, &answer, answer.count, Int32(MSG_DONTWAIT)))
        }
        guard sent == question.count, received >= Self.queue.upperBound,
            Self.number(answer, at: 4, as: UInt16.self) == Self.byFamily
        else { return nil }
        var own: Int32 = 0
        guard ioctl(connection, Self.unsent, &own) == 0 else { return nil }
        return Int(Self.number(answer, at: Self.queue.lowerBound, as: UInt32.self)) + Int(own)
    }

    /// A number of the answer, in the byte order of the machine.
    private static func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _ answer: [UInt8], at offset: Int, as type: Number.Type
    ) -> Number {
        answer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }

    private static func native(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

    /// Port of this end of a connection; nil: unknown.
    static func ownPort(of connection: Int32) -> UInt16? {
        end(connection, getsockname).map { UInt16($0.port[0]) << 8 | UInt16($0.port[1]) }
    }

    /// Family, port and address of an end, in network byte order. An IPv4 address in an IPv6 socket becomes an IPv4
    /// address.
    private static func end(
        _ connection: Int32, _ read: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> (family: UInt8, port: [UInt8], address: [UInt8])? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutableBytes(of: &storage) { bytes in
            read(connection, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length)
        }
        guard status == 0 else { return nil }
        let bytes = withUnsafeBytes(of: storage) { Array($0.prefix(28)) }
        let port = Array(bytes[2..<4])
        let nothing = [UInt8](repeating: 0, count: 12)
        switch Int32(storage.ss_family) {
        case AF_INET: return (UInt8(AF_INET), port, Array(bytes[4..<8]) + nothing)
        case AF_INET6:
            let address = Array(bytes[8..<24])
            guard address.prefix(12).elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]) else {
                return (UInt8(AF_INET6), port, address)
            }
            return (UInt8(AF_INET), port, Array(address[12...]) + nothing)
        default: return nil
        }
    }
}
