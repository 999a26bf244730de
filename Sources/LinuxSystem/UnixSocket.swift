import CLinux
import Glibc

/// Credentials of the process at the other end of a Unix socket, from the time of the connection.
package struct PeerCredentials: Equatable, Sendable {
    package let pid: Int32
    package let uid: UInt32
    package let gid: UInt32
    /// Supplementary groups.
    package let groups: [UInt32]

    /// Credentials, by their parts.
    package init(pid: Int32, uid: UInt32, gid: UInt32, groups: [UInt32]) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
        self.groups = groups
    }
}

/// Stream sockets of the Unix domain, by descriptor numbers; nothing here blocks.
package enum UnixSocket {
    /// Bytes of a socket's path, at most (unix(7)).
    package static let maximumPathBytes = 107

    /// Creates a listening socket at `path` with mode 0660, or 0600 if `isPrivate`. It changes the umask of the process
    /// for a moment, so call it before there are other threads. The descriptor is the caller's.
    package static func listen(_ path: String, isPrivate: Bool = false) throws(SystemError) -> Int32 {
        let descriptor = try make("make a socket")
        let before = umask(isPrivate ? 0o177 : 0o117)
        let bound = withAddress(path) { bind(descriptor, $0, $1) }
        let code = errno
        umask(before)
        guard bound == 0 else {
            close(descriptor)
            throw SystemError("bind \(path)", code: code)
        }
        guard Glibc.listen(descriptor, SOMAXCONN) == 0 else {
            let code = errno
            close(descriptor)
            throw SystemError("listen on \(path)", code: code)
        }
        return descriptor
    }

    /// Connects to the socket at `path`. It waits up to 0.1 s for room in the queue of the listener; EAGAIN: the queue stays
    /// full. The descriptor is the caller's.
    package static func connect(_ path: String) throws(SystemError) -> Int32 {
        let descriptor = try make("make a socket")
        guard withAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
            let code = errno
            close(descriptor)
            throw SystemError("connect to \(path)", code: code)
        }
        return descriptor
    }

    /// connect(2) of a non-blocking socket. While others fill the queue of the listener, it waits for room.
    private static func connect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Int32 {
        let result = Glibc.connect(descriptor, address, size)
        guard result != 0, errno == EAGAIN else { return result }
        setBlocking(descriptor, microseconds: waitMicroseconds)
        let (second, code) = (Glibc.connect(descriptor, address, size), errno)
        setBlocking(descriptor, microseconds: nil)
        errno = code
        return second
    }

    /// Microseconds of the wait for room in the queue of a listener.
    private static let waitMicroseconds = 100_000

    /// Lets sends and connects wait for this time; nil: not at all.
    private static func setBlocking(_ descriptor: Int32, microseconds: Int?) {
        var limit = timeval(tv_sec: 0, tv_usec: microseconds ?? 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, microseconds == nil ? flags | O_NONBLOCK : flags & ~O_NONBLOCK)
    }

    private static func make(_ operation: String) throws(SystemError) -> Int32 {
        let descriptor = linux_socket()
        if descriptor < 0 { throw SystemError(operation) }
        return descriptor
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        guard path.utf8.count <= maximumPathBytes else {
            errno = ENAMETOOLONG
            return -1
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    /// Accepts a waiting connection, close-on-exec and non-blocking; the descriptor is the caller's. Throws EAGAIN if
    /// no connection waits.
    package static func accept(_ listener: Int32) throws(SystemError) -> Int32 {
        let descriptor = linux_accept(listener)
        if descriptor < 0 { throw SystemError("accept a connection") }
        return descriptor
    }

    /// Credentials of the peer (SO_PEERCRED, SO_PEERGROUPS). Nil: not a connected Unix socket.
    package static func peer(_ descriptor: Int32) -> PeerCredentials? {
        var pid = pid_t()
        var uid = uid_t()
        var gid = gid_t()
        guard linux_peer(descriptor, &pid, &uid, &gid) == 0 else { return nil }
        var groups = [gid_t](repeating: 0, count: 64)
        var size = UInt32(groups.count * MemoryLayout<gid_t>.size)
        var result = linux_peer_groups(descriptor, &groups, &size)
        if result != 0, errno == ERANGE {
            groups = [gid_t](repeating: 0, count: Int(size) / MemoryLayout<gid_t>.size)
            result = linux_peer_groups(descriptor, &groups, &size)
        }
        let count = result == 0 ? Int(size) / MemoryLayout<gid_t>.size : 0
        return PeerCredentials(pid: pid, uid: uid, gid: gid, groups: Array(groups.prefix(count)))
    }

    /// Result of `receive`.
    package struct Received {
        /// Number of bytes; 0: the peer sends no more. Negative: the number of the error.
        package let count: Int
        /// Received open files, close-on-exec; they are the caller's.
        package let descriptors: [Int32]
    }

    /// Receives the bytes and files that have arrived.
    package static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Received {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: Int(LINUX_MAXIMUM_DESCRIPTORS)) { descriptors in
            var count: Int32 = 0
            var truncated: Int32 = 0
            let got = linux_receive(
                descriptor, buffer.baseAddress, buffer.count, descriptors.baseAddress, &count, &truncated)
            if got < 0 { return Received(count: -Int(errno), descriptors: []) }
            return Received(count: got, descriptors: count > 0 ? Array(descriptors.prefix(Int(count))) : [])
        }
    }

    /// Sends as much as the kernel accepts now, with `file` on the first byte. Returns the number of bytes; negative:
    /// the number of the error.
    package static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, with file: Int32?) -> Int {
        guard let file else { return send(descriptor, bytes) }
        let sent = linux_send(descriptor, bytes.baseAddress, bytes.count, [file], 1)
        return sent < 0 ? -Int(errno) : sent
    }

    /// Sends as much as the kernel accepts now. Returns the number of bytes; negative: the number of the error.
    package static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        let sent = Glibc.send(
            descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        return sent < 0 ? -Int(errno) : sent
    }

    /// Sends as much as the kernel accepts now of two pieces in their order. Returns the number of bytes; negative: the
    /// number of the error.
    package static func send(
        _ descriptor: Int32, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer
    ) -> Int {
        withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { pieces in
            pieces[0] = iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count)
            pieces[1] = iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
            var message = msghdr()
            message.msg_iov = pieces.baseAddress
            message.msg_iovlen = 2
            let sent = sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            return sent < 0 ? -Int(errno) : sent
        }
    }
}
